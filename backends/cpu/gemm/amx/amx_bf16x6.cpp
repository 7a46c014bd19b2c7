/// amx_bf16x6: f32-grade products on AMX, the processor's matrix units. Each operand is split into three bf16 parts,
/// which keep all 24 bits. The six largest of the nine products of parts are added, and the sum is carried out of the
/// tiles every 128 k.
///
/// It does 12·m·n·k operations at sixteen times the rate of AVX-512 in f32, and packs both operands, 6 bytes an
/// element. Where an operand has NaN, Inf or a number whose parts would be subnormal, which AMX takes for zero, the
/// strict kernel computes the call instead. Source: Henry, Tang and Heinecke, "Leveraging the bfloat16 Artificial
/// Intelligence Datatype For Higher-Precision Computations" (ARITH 2019).

#include "amx_rung.hpp"
#include "cpu/gemm/ladder.hpp"

namespace tessera::cpu {
namespace {

constexpr Index sum_of_k = 128; // k of a sum that stays in the tiles

bool parts_hold_all(unsigned least_a, unsigned least_b) { return least_a != 0 && least_b != 0; }

constexpr double worth_a_thread = 1 << 22; // multiply-adds

const amx::Method method{amx::parts_of_f32,    sum_of_k,      worth_a_thread, amx::pack_split,
                         amx::multiply_bf16x6, parts_hold_all};

Status run(const GemmKernel&, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  return amx::run(executor, queue, call, method, amx::store_f32, simd_f32);
}

} // namespace

const GemmKernel amx_bf16x6_f32{.name = "amx_bf16x6",
                                .summary = "f32-grade results from six products of bf16 parts on AMX",
                                .source = "Henry, Tang and Heinecke 2019",
                                .type = DType::F32,
                                .math = Math::EmulatedBf16x6,
                                .tile = {amx::side, amx::side, sum_of_k},
                                .reject = amx::reject,
                                .run = run,
                                .epilogue = true};

} // namespace tessera::cpu
