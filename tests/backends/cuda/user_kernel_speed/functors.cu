#include "functors.hpp"

TESSERA_CUDA_KERNELS(stream::Copy<double>, stream::Mul<double>, stream::Add<double>, stream::Triad<double>,
                     stream::Dot<double>, speed::Element)
