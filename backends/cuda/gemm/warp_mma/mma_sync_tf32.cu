/// mma_sync_tf32: a warp's matrix instructions in tf32, on any GPU from compute capability 8.0 on. mma_small_tf32: the
/// same kernels on Hopper, for the products that take them less time than wgmma_tf32.

#include "rung.cuh"

namespace tessera::cuda {

const GemmKernel mma_sync_tf32_f32 = warp_mma::rung<float>(
    "mma_sync_tf32", "a warp's matrix instructions in tf32, fed by cp.async", DType::F32, Math::Tf32);
const GemmKernel mma_small_tf32_f32 = warp_mma::small_row<float>(
    "mma_small_tf32", "the same for products of few results, in one launch", DType::F32, Math::Tf32);

} // namespace tessera::cuda
