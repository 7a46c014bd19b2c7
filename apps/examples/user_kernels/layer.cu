#include "layer.hpp"

TESSERA_CUDA_KERNELS(BiasAndTanh, Element)
