#include "functors.hpp"

TESSERA_CUDA_KERNELS(stream::Copy, stream::Mul, stream::Add, stream::Triad, stream::Dot, speed::Element)
