#pragma once

/// An operand as it is stored, line by line, and the copy that takes its place where a kernel cannot read its lines.

#include <utility>

#include <tessera/backend/kernel.hpp>

#include "cuda/gemm/common/ceil_div.hpp"
#include "operand_copies.cuh"
#include "strided_matrix.hpp"

namespace tessera::cuda {

struct StoredOperand {
  const void* data;
  Index lines, length, ld;
  bool along_k;            ///< a line has one row of op(A), or one column of op(B); otherwise one k
  int element;             ///< bytes of an element
  bool transposed = false; ///< the product reads a transposed copy

  static StoredOperand a_of(const GemmCall& call, int element) noexcept {
    return call.op_a == Op::None ? StoredOperand{call.a, call.m, call.k, call.lda, true, element}
                                 : StoredOperand{call.a, call.k, call.m, call.lda, false, element};
  }
  static StoredOperand b_of(const GemmCall& call, int element) noexcept {
    return call.op_b == Op::None ? StoredOperand{call.b, call.k, call.n, call.ldb, false, element}
                                 : StoredOperand{call.b, call.n, call.k, call.ldb, true, element};
  }

  bool copied() const { return transposed || !lines_are_aligned(data, lines, ld, element); }
  /// Do lines begin elsewhere than at multiples of 128 bytes? Lines of copies do not.
  bool splits_lines() const { return !copied() && lines > 1 && ld * element % 128 != 0; }
  /// Returns the elements from line to line of a copy: its lines are then whole lines of the caches.
  Index pitch(Index line_length) const { return ceil_div<Index>(line_length * element, 128) * 128 / element; }
  Index copy_bytes() const {
    return !copied() ? 0 : transposed ? length * pitch(lines) * element : lines * pitch(length) * element;
  }
  /// Returns the copy whose lines begin at multiples of 16 bytes, which has to be made at `to`, and becomes it. Nothing
  /// is wanted where the operand's own lines do. Only f32 is transposed.
  OperandCopy become_copy(void* to) {
    if (!copied()) return {};
    const Index halves = transposed ? 1 : element / 2; // the copy counts elements or their halves
    const OperandCopy copy{
        data, lines, length * halves, ld * halves, to, pitch(transposed ? lines : length) * halves, transposed};
    if (transposed) {
      std::swap(lines, length);
      along_k = !along_k;
    }
    data = to;
    ld = pitch(length);
    transposed = false;
    return copy;
  }
};

} // namespace tessera::cuda
