#include "unpacked_run.cuh"

namespace tessera::cuda::wgmma::unpacked {

template Status run<1>(const char*, Executor&, Queue&, const GemmCall&, const fp16x3::UnpackedPlan&) noexcept;

} // namespace tessera::cuda::wgmma::unpacked
