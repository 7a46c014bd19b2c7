#include "functors.hpp"

__device__ int only_cuda = VALUE;
TESSERA_CUDA_KERNELS(Fill<VALUE>)
