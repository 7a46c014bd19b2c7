#include "run.cuh"

namespace tessera::cuda::warp_split {

template Status run<2>(const char*, Executor&, Queue&, const GemmCall&, const WarpSplitPlan&) noexcept;

} // namespace tessera::cuda::warp_split
