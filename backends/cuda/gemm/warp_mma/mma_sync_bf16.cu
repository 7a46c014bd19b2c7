/// mma_sync_bf16: a warp's matrix instructions in bf16, on any card from compute capability 8.0 on.

#include "rung.cuh"

namespace tessera::cuda {

const GemmKernel mma_sync_bf16_bf16 = warp_mma::row<__nv_bfloat16>(
    "mma_sync_bf16", "a warp's matrix instructions in bf16, fed by cp.async", DType::BF16, Math::Bf16);

} // namespace tessera::cuda
