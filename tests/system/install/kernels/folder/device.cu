#include "../values.hpp"

#if FROM_SOURCE != 4
#error "a property of this source is missing"
#endif
__device__ int value_in_folder = VALUE;
