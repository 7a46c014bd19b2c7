#include "jacobi.hpp"

TESSERA_CUDA_KERNELS(Step, Change, Point)
