#pragma once

/// The blocks in which a complex product is computed, so that its scratch memory stays within a limit.

#include <cstddef>

#include <tessera/complex.hpp>

namespace tessera::detail {

/// The sizes of a block of C and of a slice of k, in complex numbers. Blocks change no bit, because each element of C
/// is one sum. A slice of k is one segment of a strict sum.
struct ComplexBlocks : GemmShape {
  bool slices(const ComplexGemmCall& call) const { return k < call.k; }
  /// Are sums kept in scratch memory and added to C at the end? Slices are added up in C itself where alpha = 1 and
  /// beta = 0.
  bool keeps_sums(const ComplexGemmCall& call) const;

  /// Bytes of scratch memory for the expanded B, for A if it is transposed, and for sums if they are kept.
  std::size_t b(const ComplexGemmCall& call) const;
  std::size_t a(const ComplexGemmCall& call) const;
  std::size_t sums(const ComplexGemmCall& call) const;
  std::size_t bytes(const ComplexGemmCall& call) const { return b(call) + a(call) + sums(call); }
};

/// Returns the distance of rows in scratch memory. It is whole cache lines, and no multiple of 2 KiB, because a
/// first-level cache holds few lines at such distances.
Index scratch_ld(Index cols, DType parts);

/// Returns the whole product as one block if its scratch memory is at most `limit` bytes, else blocks of about equal
/// sizes for which it is.
ComplexBlocks choose_complex_blocks(const ComplexGemmCall& call, std::size_t limit);

} // namespace tessera::detail
