/// int8_units: f64 products by the processor's units for bytes.
///
/// Operands become whole numbers modulo 15 moduli of 8 bits, and 15 products of bytes give the exact sum modulo each;
/// a sixteenth one, of sizes, says which elements need the strict sum (docs/contract.md). AMX multiplies bytes at many
/// times the rate of doubles, AVX-512 VNNI at 8 times it. Other processors compute the same bits, more slowly than the
/// strict product.

#include <algorithm>
#include <new>

#include <tessera/backend/out_of_memory.hpp>

#include "cpu/gemm/ladder.hpp"
#include "product.hpp"

namespace tessera::cpu {
namespace {

namespace int8 = detail::int8;

/// Bytes of packed operands that are kept at once.
constexpr Index most_packed = Index{1} << 30;

/// Returns the lines of one operand that are packed at once, beside as many of the other one.
Index lines_at_once(Index k) {
  constexpr Index least = 256;
  const Index fitting = most_packed / (2 * int8_units::planes * k);
  return std::max(least, fitting / least * least);
}

Status run(const GemmKernel&, Executor& executor, Queue& queue, const GemmCall& call) noexcept try {
  CpuExecutor& cpu = cpu_of(executor);
  if (int8::is_strict(call.k)) {
    GemmCall strict = call;
    strict.math = Math::Strict;
    return cpu.gemm(queue, strict);
  }
  const Index together = lines_at_once(call.k);
  const Index rows = std::min(call.m, together), cols = std::min(call.n, together);
  return int8_units::multiply_in_parts(cpu, queue, call, rows, cols);
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

} // namespace

const GemmKernel int8_units_f64{.name = "int8_units",
                                .summary = "f64 as whole numbers modulo 15 bytes, by AMX, VNNI or vectors of integers",
                                .source = "Ozaki, Uchino and Imamura 2025 (Ozaki scheme II)",
                                .type = DType::F64,
                                .math = Math::Int8Units,
                                .tile = {32, 32, 64},
                                .summation = Summation::WholeNumbers,
                                .run = run,
                                .epilogue = true};

} // namespace tessera::cpu
