#pragma once

/// Products of emulated_fp16x3 and scaled_fp16 with few results, in one launch, whose warps split the operands
/// themselves.

#include <tessera/backend/kernel.hpp>

#include "warp_split_plan.hpp"

namespace tessera::cuda::warp_split {

/// Enqueues the product of f32 operands, whose elements have `terms` terms (one or two), by the plan. m, n and k are
/// under 2³⁰. `name` is the kernel's. warp_split/fp16x3.cu and scaled_fp16.cu define it.
template <int terms>
Status run(const char* name, Executor& executor, Queue& queue, const GemmCall& call,
           const WarpSplitPlan& plan) noexcept;

} // namespace tessera::cuda::warp_split
