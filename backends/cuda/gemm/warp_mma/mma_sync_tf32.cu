/// mma_sync_tf32: a warp's matrix instructions in tf32, on any card from compute capability 8.0 on.

#include "rung.cuh"

namespace tessera::cuda {

const GemmKernel mma_sync_tf32_f32 = warp_mma::row<float>(
    "mma_sync_tf32", "a warp's matrix instructions in tf32, fed by cp.async", DType::F32, Math::Tf32);

} // namespace tessera::cuda
