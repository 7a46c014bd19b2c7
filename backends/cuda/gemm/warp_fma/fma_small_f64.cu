/// fma_small in f64: products of few results, which take the time of one chain of FMAs.

#include "rung.cuh"

namespace tessera::cuda {

const GemmKernel fma_small_f64 = warp_fma::rung<double>;

} // namespace tessera::cuda
