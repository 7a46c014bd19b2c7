/// emulated_fp16x3: f32-grade products on the matrix units. Each operand is split into two fp16 terms. The products
/// low·high, high·low and high·high are added; low·low is below what f32 keeps.
///
/// It takes 6·m·n·k operations at the rate of fp16, an eighth of f32's cost on an H100. Rows of op(A) and columns of
/// op(B) are scaled by chunks of 128 k, so that any finite f32 fits. NaN and Inf send the product to the strict row.
/// Both operands are packed, or only the smaller one, where the larger one is best read from where it is; the bits are
/// the same. Source: Ootomo and Yokota, "Recovering single precision accuracy from Tensor Cores while surpassing the
/// FP32 theoretical peak performance" (IJHPCA 2022).

#include "cuda/gemm/ladder.hpp"
#include "rung.cuh"
#include "unpacked.cuh"
#include <cstdio>
#include <cstdlib>
#include "cuda/gemm/warp_split/run.hpp"

namespace tessera::cuda {
namespace {

using TwoTerms = wgmma::Recipe<UnitType::Fp16, 2, 32, wgmma::chunk_k>;

Status run(const GemmKernel& row, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  const fp16x3::Plan plan = fp16x3::choose(call, executor.capabilities().multiprocessors, false);
  if (const char* hook = std::getenv("TESSERA_FP16X3")) { // HOOK
    int d, a, p;
    if (std::sscanf(hook, "fused %d %d %d", &d, &a, &p) == 3)
      return warp_split::run(row.name, executor, queue, call, {d, a, p});
    if (hook[0] == 'u' && fp16x3::LargeOperand(call).can_be_read(call))
      return wgmma::unpacked::run(row.name, executor, queue, call, fp16x3::unpacked_time(call, executor.capabilities().multiprocessors).plan);
    return wgmma::run<TwoTerms, 128, 192>(row, executor, queue, call);
  }
  if (plan.way == fp16x3::Way::Unpacked) return wgmma::unpacked::run(row.name, executor, queue, call, plan.unpacked);
  return wgmma::run<TwoTerms, 128, 192>(row, executor, queue, call);
}

} // namespace

const GemmKernel emulated_fp16x3_f32{.name = "emulated_fp16x3",
                                     .summary = "f32-grade results from three products of fp16 parts",
                                     .source = "Ootomo and Yokota 2022",
                                     .type = DType::F32,
                                     .math = Math::EmulatedFp16x3,
                                     .tile = {wgmma::tile_m * wgmma::cluster, 192, 128},
                                     .accumulator = Accumulator::Truncating,
                                     .reject = wgmma::reject,
                                     .run = run,
                                     .epilogue = true,
                                     .narrows = true};

} // namespace tessera::cuda
