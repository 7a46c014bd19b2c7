#include "run.cuh"

namespace tessera::cuda::block_split {

template Status run<1>(const char*, Executor&, Queue&, const GemmCall&, const BlockSplitPlan&) noexcept;

} // namespace tessera::cuda::block_split
