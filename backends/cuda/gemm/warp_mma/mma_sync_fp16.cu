/// mma_sync_fp16: a warp's matrix instructions in fp16, on any GPU from compute capability 8.0 on. mma_small_fp16: the
/// same kernels on Hopper, for the products that take them less time than wgmma_fp16.

#include "rung.cuh"

namespace tessera::cuda {

const GemmKernel mma_sync_fp16_f16 = warp_mma::rung<__half>(
    "mma_sync_fp16", "a warp's matrix instructions in fp16, fed by cp.async", DType::F16, Math::Fp16);
const GemmKernel mma_small_fp16_f16 = warp_mma::small_row<__half>(
    "mma_small_fp16", "the same for products of few results, in one launch", DType::F16, Math::Fp16);

} // namespace tessera::cuda
