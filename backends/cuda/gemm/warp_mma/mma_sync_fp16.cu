/// mma_sync_fp16: a warp's matrix instructions in fp16, on any card from compute capability 8.0 on.

#include "rung.cuh"

namespace tessera::cuda {

const GemmKernel mma_sync_fp16_f16 = warp_mma::row<__half>(
    "mma_sync_fp16", "a warp's matrix instructions in fp16, fed by cp.async", DType::F16, Math::Fp16);

} // namespace tessera::cuda
