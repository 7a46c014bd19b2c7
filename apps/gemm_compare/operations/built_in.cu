#include "examples/user_kernels/babelstream.hpp"
#include "reductions.hpp"

using tessera::compare_app::Element;

TESSERA_CUDA_KERNELS(stream::Copy<float>, stream::Copy<double>, stream::Mul<float>, stream::Mul<double>,
                     stream::Add<float>, stream::Add<double>, stream::Triad<float>, stream::Triad<double>,
                     stream::Dot<float>, stream::Dot<double>, Element<float>, Element<double>, tessera::Scan<float>,
                     tessera::Scan<double>)
