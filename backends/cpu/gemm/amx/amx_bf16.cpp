/// amx_bf16: products of bf16 operands, or of f32 operands rounded to bf16, on AMX, the processor's matrix units.
///
/// It does 2·m·n·k operations at sixteen times the rate of AVX-512 in f32, and packs both operands, 2 bytes an element.
/// The tiles keep f32 sums, rounded to nearest, but flush subnormal numbers. Where an operand has subnormal numbers, or
/// a product of two elements may be subnormal, the strict kernel computes the call instead.

#include <algorithm>
#include <cmath>

#include <tessera/half.hpp>

#include "amx_rung.hpp"
#include "cpu/gemm/common/update.hpp"
#include "cpu/gemm/ladder.hpp"
#include "reference/elementwise/epilogue.hpp"
#include "reference/fma_clones.hpp"

namespace tessera::cpu {
namespace {

/// Says whether no sum can be subnormal. All products are multiples of 2⁻¹⁴ times the least of them, and so are all
/// sums. If the least exponents add up to −112 or more, a sum is therefore 0 or at least 2⁻¹²⁶.
bool no_sum_is_subnormal(unsigned least_a, unsigned least_b) {
  if (least_a == amx::all_zero || least_b == amx::all_zero) return true;
  const auto exponent = [](unsigned least) {
    return static_cast<int>((least + 1) >> 7) - 127;
  }; // −127: a subnormal number
  const int a = exponent(least_a), b = exponent(least_b);
  return a > -127 && b > -127 && a + b >= -126 + 14;
}

constexpr Index first_cache_k = 512;       // 32 KiB of a strip
constexpr double worth_a_thread = 1 << 24; // multiply-adds

const amx::Method as_they_are{
    1, first_cache_k, worth_a_thread, amx::pack_bf16, amx::multiply_bf16, no_sum_is_subnormal};
const amx::Method rounded{1, first_cache_k, worth_a_thread, amx::pack_rounded, amx::multiply_bf16, no_sum_is_subnormal};

TESSERA_FMA_CLONES void store_bf16_with_epilogue(const GemmCall& call, Index i, Index j, Index rows, Index cols,
                                                 const float* sums, Index ld) {
  constexpr Index at_once = 256;
  const auto alpha = static_cast<float>(call.alpha), beta = static_cast<float>(call.beta);
  float r[at_once];
  for (Index row = i; row < i + rows; ++row, sums += ld)
    for (Index first = 0; first < cols; first += at_once) {
      const Index count = std::min(at_once, cols - first);
      bf16* const c = static_cast<bf16*>(call.c) + row * call.ldc + j + first;
      if (beta == 0)
        for (Index e = 0; e < count; ++e) r[e] = alpha * sums[first + e];
      else
        for (Index e = 0; e < count; ++e) r[e] = std::fma(beta, static_cast<float>(c[e]), alpha * sums[first + e]);
      host::apply_epilogue_to_row(call.epilogue, row, j + first, count, r, c);
    }
}

void store_bf16(const GemmCall& call, Index i, Index j, Index rows, Index cols, const float* sums, Index ld) {
  if (!stores_plain_sums(call)) return store_bf16_with_epilogue(call, i, j, rows, cols, sums, ld);
  auto* const c = static_cast<std::uint16_t*>(call.c) + i * call.ldc + j;
  for (Index row = 0; row < rows; ++row) amx::narrow(sums + row * ld, cols, c + row * call.ldc);
}

Status run_bf16(const GemmKernel&, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  const amx::Store store = call.result == DType::BF16 ? store_bf16 : amx::store_f32;
  return amx::run(executor, queue, call, as_they_are, store, widened_bf16);
}

Status run_f32(const GemmKernel&, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  return amx::run(executor, queue, call, rounded, amx::store_f32, simd_f32);
}

template <DType type, auto run>
constexpr GemmKernel rung{.name = "amx_bf16",
                          .summary = "bf16 on AMX, f32 sums",
                          .source = "Intel's optimization manual; Goto and van de Geijn 2008",
                          .type = type,
                          .math = Math::Bf16,
                          .tile = {amx::side, amx::side, amx::chunk},
                          .reject = amx::reject,
                          .run = run,
                          .epilogue = true};

} // namespace

const GemmKernel amx_bf16_f32 = rung<DType::F32, run_f32>;
const GemmKernel amx_bf16_bf16 = rung<DType::BF16, run_bf16>;

} // namespace tessera::cpu
