#include "kmeans.hpp"

TESSERA_CUDA_KERNELS(Assign, Distance)
