#include "jacobi.hpp"
#include "kmeans.hpp"
#include "layer.hpp"

TESSERA_CUDA_KERNELS(BiasAndTanh, Step, Assign)
