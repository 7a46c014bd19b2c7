/// emulated_fp16x3: f32-grade products on the matrix units. Each operand is split into two fp16 terms. The products
/// low·high, high·low and high·high are added; low·low is below what f32 keeps.
///
/// It takes 6·m·n·k operations at the rate of fp16, an eighth of f32's cost on an H100. Rows of op(A) and columns of
/// op(B) are scaled by chunks of 128 k, so that any finite f32 fits. Rows and columns with NaN or Inf are strict.
/// Both operands are packed; or only the smaller one, where the larger one is best read from where it is; or none,
/// where results are few. In each case the bits are the contract's (docs/contract.md). Source: Ootomo and
/// Yokota, "Recovering single precision accuracy from Tensor Cores while surpassing the FP32 theoretical peak
/// performance" (IJHPCA 2022).

#include "cuda/gemm/common/emulated_fp16x3/warp_split_run.hpp"
#include "cuda/gemm/ladder.hpp"
#include "rung.cuh"
#include "unpacked.cuh"

namespace tessera::cuda {
namespace {

using TwoTerms = wgmma::Recipe<MatrixUnitType::Fp16, 2, 32, wgmma::chunk_k>;

Status run(const GemmKernel& kernel, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  const fp16x3::Fp16x3Plan plan = fp16x3::choose(call, executor.capabilities().multiprocessors);
  if (plan.way == fp16x3::Way::Split) return warp_split::run(kernel.name, executor, queue, call, plan.split);
  if (plan.way == fp16x3::Way::Unpacked) return wgmma::unpacked::run(kernel.name, executor, queue, call, plan.unpacked);
  return wgmma::run<TwoTerms, 128, 192>(kernel, executor, queue, call);
}

} // namespace

const GemmKernel emulated_fp16x3_f32{.name = "emulated_fp16x3",
                                     .summary = "f32-grade results from three products of fp16 parts",
                                     .source = "Ootomo and Yokota 2022",
                                     .type = DType::F32,
                                     .math = Math::EmulatedFp16x3,
                                     .tile = {wgmma::tile_m * wgmma::cluster, 192, 128},
                                     .summation = Summation::HopperUnits,
                                     .accumulator = Accumulator::Truncating,
                                     .reject = wgmma::reject_emulated,
                                     .run = run,
                                     .epilogue = true,
                                     .narrows = true};

} // namespace tessera::cuda
