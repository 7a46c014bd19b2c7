#include "twin.hpp"

TESSERA_CUDA_KERNELS(Twin)
