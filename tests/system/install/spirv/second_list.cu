#include "functors.hpp"

TESSERA_CUDA_KERNELS(Fill<VALUE>)
