#include "power_iteration.hpp"

TESSERA_CUDA_KERNELS(Divide, Product)
