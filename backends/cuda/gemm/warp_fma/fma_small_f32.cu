/// fma_small in f32: products of few results, which take the time of one chain of FMAs.

#include "rung.cuh"

namespace tessera::cuda {

const GemmKernel fma_small_f32 = warp_fma::rung<float>;

} // namespace tessera::cuda
