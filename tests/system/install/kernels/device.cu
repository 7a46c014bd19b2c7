#include "values.hpp"

#if defined(NDEBUG)
__device__ int assertions_off = VALUE;
#else
__device__ int assertions_on = VALUE;
#endif
#if defined(FOLDER)
__device__ int value_of_folder = FOLDER;
#endif
extern "C" __attribute__((visibility("default"))) const void* tessera_user_kernels() { return nullptr; }
