#pragma once

/// What the kernels of fp16 terms with scales run: both operands are packed; or only the smaller one, where the larger
/// one is best read from where it is; or none, where results are few, and warps or blocks split their operands. In each
/// case the bits are the contract's (docs/contract.md).

#include "cuda/gemm/common/emulated_fp16x3/block_split_run.hpp"
#include "cuda/gemm/common/emulated_fp16x3/warp_split_run.hpp"
#include "rung.cuh"
#include "unpacked.cuh"

namespace tessera::cuda::wgmma {

/// Runs the product by the way that is done first. R is the recipe of packed operands, whose tiles have one of these
/// widths.
template <class R, int... widths>
Status run_fp16_terms(const GemmKernel& kernel, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  static_assert(R::scaled);
  const fp16x3::Fp16x3Plan plan = fp16x3::choose(call, executor.capabilities().multiprocessors);
  if (plan.way == fp16x3::Way::Split) return warp_split::run<R::terms>(kernel.name, executor, queue, call, plan.split);
  if (plan.way == fp16x3::Way::Blocks)
    return block_split::run<R::terms>(kernel.name, executor, queue, call, plan.blocks);
  if (plan.way == fp16x3::Way::Unpacked)
    return unpacked::run<R::terms>(kernel.name, executor, queue, call, plan.unpacked);
  return run<R, widths...>(kernel, executor, queue, call);
}

} // namespace tessera::cuda::wgmma
