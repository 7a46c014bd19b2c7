#pragma once

/// Products of emulated_fp16x3 and scaled_fp16 with few results, whose blocks split the operands in shared memory.

#include <tessera/backend/kernel.hpp>

#include "block_split_plan.hpp"

namespace tessera::cuda::block_split {

/// Enqueues the product of f32 operands, whose elements have `terms` terms (one or two), by the plan. m, n and k are
/// under 2³⁰. `name` is the kernel's. block_split/fp16x3.cu and scaled_fp16.cu define it.
template <int terms>
Status run(const char* name, Executor& executor, Queue& queue, const GemmCall& call,
           const BlockSplitPlan& plan) noexcept;

} // namespace tessera::cuda::block_split
