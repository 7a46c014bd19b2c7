/// strict: rows of math modes that may round more, which run the strict f32 product where it takes less time than the
/// mode's own kernels. They keep the mode's promise, because the strict product is more exact.
///
/// In tf32, cards without Hopper's matrix units wait for memory in any mode where rows or columns are few. The emulated
/// modes spend time on splitting and packing before they multiply.
/// docs/lab/cuda_gemm.md has the measurements behind the limits below.

#include <algorithm>

#include <tessera/executor.hpp>

#include "cuda/gemm/common/emulated_fp16x3/plan.hpp"
#include "cuda/gemm/ladder.hpp"

namespace tessera::cuda {
namespace {

constexpr Index few_in_tf32 = 16;
constexpr Index few_in_bf16x6 = 128;      ///< rows or columns of C
constexpr Index short_in_bf16x6 = 64;     ///< k
constexpr double small_in_bf16x6 = 0.3e9; ///< multiply-adds

Index few(const GemmCall& call) { return std::min(call.m, call.n); }
double multiply_adds(const GemmCall& call) {
  return static_cast<double>(call.m) * static_cast<double>(call.n) * static_cast<double>(call.k);
}

const char* reject_tf32(const GemmKernel&, const GemmCall& call, const Capabilities& machine) noexcept {
  if (machine.compute_major == 9 && std::max({call.m, call.n, call.k}) < Index{1} << 30)
    return "wgmma_tf32 keeps the mode's contract of bits; use that, or math mode strict";
  if (few(call) <= few_in_tf32) return nullptr;
  return "of more than 16 rows and columns tf32 is faster; use another row of it";
}

bool is_strict_in(Math math, const GemmCall& call, const Capabilities& machine) {
  if (math == Math::EmulatedFp16x3)
    return fp16x3::choose(call, machine.multiprocessors, true).way == fp16x3::Way::Strict;
  return few(call) <= few_in_bf16x6 || call.k <= short_in_bf16x6 || multiply_adds(call) < small_in_bf16x6;
}

const char* reject_emulated(const GemmKernel& row, const GemmCall& call, const Capabilities& machine) noexcept {
  if (machine.compute_major != 9) return "the mode's own kernel needs compute capability 9.0 (Hopper); use mode strict";
  return is_strict_in(row.math, call, machine)
             ? nullptr
             : "splitting the operands pays for so large a product; use the row with the mode's name";
}

Status run(const GemmKernel&, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  GemmCall strict = call;
  strict.math = Math::Strict;
  return executor.gemm(queue, strict);
}

constexpr GemmKernel row(Math math) {
  return {.name = "strict",
          .summary = "the strict product, where it takes less time than the mode's own kernels",
          .source = "this library's strict rows",
          .type = DType::F32,
          .math = math,
          .reject = math == Math::Tf32 ? reject_tf32 : reject_emulated,
          .run = run,
          .epilogue = true,
          .narrows = true};
}

} // namespace

const GemmKernel strict_tf32_f32 = row(Math::Tf32);
const GemmKernel strict_fp16x3_f32 = row(Math::EmulatedFp16x3);
const GemmKernel strict_bf16x6_f32 = row(Math::EmulatedBf16x6);

} // namespace tessera::cuda
