#include "terms.hpp"

using namespace tessera;
using namespace tessera::test;

TESSERA_CUDA_KERNELS(Saxpy, Triad, Mixed, Place, TwoRoundings, Square, Values<float>, Values<double>,
                     Values<std::int64_t>, Sine, Reduction<PairOf, AddPairs>, Exp<float>, Exp<double>, Log<float>,
                     Log<double>, Tanh<float>, Tanh<double>, LibraryFunctions, ExactOnes, Wild, Asserting, Scan<float>,
                     Scan<double>, Scan<std::int64_t>)
