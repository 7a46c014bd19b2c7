#pragma once

/// Which operands have to be copied before the copy engine and the matrix units can read them. This header holds no
/// device code.

#include <tessera/backend/kernel.hpp>

#include "strided_matrix.hpp"

namespace tessera::cuda {

constexpr Index widest_few_columns = 64; ///< columns of C that fit one tile of 64; such a C has few columns

/// Returns the most bytes, up to 16, at whose multiples the lines of A begin, of `element` bytes an element.
inline int alignment_of_a(const GemmCall& call, Index element) noexcept {
  return alignment_of_lines(call.a, call.op_a == Op::None ? call.m : call.k, call.lda, element);
}
/// Returns the most bytes, up to 16, at whose multiples the lines of B begin, of `element` bytes an element.
inline int alignment_of_b(const GemmCall& call, Index element) noexcept {
  return alignment_of_lines(call.b, call.op_b == Op::None ? call.k : call.n, call.ldb, element);
}
/// Returns whether the copy engine can read A where it is.
inline bool a_is_aligned(const GemmCall& call, Index element) noexcept { return alignment_of_a(call, element) == 16; }
/// Returns whether it can read B there.
inline bool b_is_aligned(const GemmCall& call, Index element) noexcept { return alignment_of_b(call, element) == 16; }
/// Returns whether it can read both there.
inline bool operands_are_aligned(const GemmCall& call, Index element) noexcept {
  return a_is_aligned(call, element) && b_is_aligned(call, element);
}

/// Returns whether op(A) and op(B) change places in tf32, where the kernel's second operand has to lie along k. They do
/// for that reason, unless the second one is much smaller than the first, so that a transposed copy of it costs little.
inline bool is_swapped_in_tf32(const GemmCall& call) noexcept {
  const bool few_rows = call.m <= widest_few_columns, few_columns = call.n <= widest_few_columns;
  const bool unlike = call.op_a == Op::None && call.op_b == Op::None;
  return unlike ? !few_columns || call.m < 16 * call.n : few_rows && !few_columns;
}

} // namespace tessera::cuda
