/// mma_sync_bf16: a warp's matrix instructions in bf16, on any GPU from compute capability 8.0 on. mma_small_bf16: the
/// same kernels on Hopper, for the products that take them less time than wgmma_bf16.

#include "rung.cuh"

namespace tessera::cuda {

const GemmKernel mma_sync_bf16_bf16 = warp_mma::rung<__nv_bfloat16>(
    "mma_sync_bf16", "a warp's matrix instructions in bf16, fed by cp.async", DType::BF16, Math::Bf16);
const GemmKernel mma_small_bf16_bf16 = warp_mma::small_row<__nv_bfloat16>(
    "mma_small_bf16", "the same for products of few results, in one launch", DType::BF16, Math::Bf16);

} // namespace tessera::cuda
