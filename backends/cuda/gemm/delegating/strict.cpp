/// strict: kernels of math modes that may round more, which run the strict product where it takes less time than the
/// mode's own kernels. They keep the mode's promise, because the strict product is more exact.
///
/// In tf32, GPUs without Hopper's matrix units wait for memory in any mode where rows or columns are few. The emulated
/// modes spend time on splitting operands before they multiply, and int8_units on residues; where that does not pay is
/// part of their contract (docs/contract.md), and depends on k alone.
/// docs/lab/cuda_gemm.md has the measurements behind the limits.

#include <algorithm>

#include <tessera/detail/int8_units.hpp>
#include <tessera/executor.hpp>

#include "cuda/gemm/common/emulated_fp16x3/plan.hpp"
#include "cuda/gemm/ladder.hpp"

namespace tessera::cuda {
namespace {

constexpr Index few_in_tf32 = 16;

const char* reject_tf32(const GemmKernel&, const GemmCall& call, const Capabilities& machine) noexcept {
  if (machine.compute_major == 9 && std::max({call.m, call.n, call.k}) < Index{1} << 30)
    return "wgmma_tf32 keeps the mode's contract of bits; use that, or math mode strict";
  if (std::min(call.m, call.n) <= few_in_tf32) return nullptr;
  return "of more than 16 rows and columns tf32 is faster; use another kernel of it";
}

const char* reject_emulated(const GemmKernel&, const GemmCall& call, const Capabilities& machine) noexcept {
  if (machine.compute_major != 9) return "the mode's own kernel needs compute capability 9.0 (Hopper); use mode strict";
  if (fp16x3::is_strict(call)) return nullptr;
  static_assert(detail::emulated_strict_k(Math::ScaledFp16) == 64 && detail::emulated_strict_k(Math::Strict) == 256);
  return call.math == Math::ScaledFp16 ? "k is over 64; use the kernel with the mode's name"
                                       : "k is over 256; use the kernel with the mode's name";
}

const char* reject_int8(const GemmKernel&, const GemmCall& call, const Capabilities& machine) noexcept {
  if (machine.compute_major != 9) return "the mode's own kernel needs compute capability 9.0 (Hopper); use mode strict";
  if (detail::int8::is_strict(call.k)) return nullptr;
  return "k is over 1024; use the kernel with the mode's name";
}

Status run(const GemmKernel&, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  GemmCall strict = call;
  strict.math = Math::Strict;
  return executor.gemm(queue, strict);
}

constexpr GemmKernel rung(Math math) {
  return {.name = "strict",
          .summary = "the strict product, where it takes less time than the mode's own kernels",
          .source = "this library's strict kernels",
          .type = DType::F32,
          .math = math,
          .summation = math == Math::Tf32 ? Summation::Other : Summation::HopperUnits,
          .reject = math == Math::Tf32 ? reject_tf32 : reject_emulated,
          .run = run,
          .epilogue = true,
          .narrows = true};
}

constexpr GemmKernel rung_of_int8_units() {
  GemmKernel kernel = rung(Math::Int8Units);
  kernel.source = "this library's strict kernels of f64";
  kernel.type = DType::F64;
  kernel.summation = Summation::WholeNumbers;
  kernel.reject = reject_int8;
  kernel.narrows = false;
  return kernel;
}

} // namespace

const GemmKernel strict_tf32_f32 = rung(Math::Tf32);
const GemmKernel strict_fp16x3_f32 = rung(Math::EmulatedFp16x3);
const GemmKernel strict_bf16x6_f32 = rung(Math::EmulatedBf16x6);
const GemmKernel strict_scaled_fp16_f32 = rung(Math::ScaledFp16);
const GemmKernel strict_int8_units_f64 = rung_of_int8_units();

} // namespace tessera::cuda
