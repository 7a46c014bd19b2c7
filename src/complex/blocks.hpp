#pragma once

/// What of a complex product is multiplied at a time, so that what is rewritten for it stays within a limit.

#include <cstddef>

#include <tessera/complex.hpp>

namespace tessera::detail {

/// A block of C and a slice of k, in complex numbers. Blocks of columns change no bit, for each column of C is a sum of
/// its own; slices of k are single segments of the canonical summation.
struct ComplexBlocks {
  Index m = 0;
  Index n = 0;
  Index k = 0;

  bool slices(const ComplexGemmCall& call) const { return k < call.k; }
  /// Do sums go to memory of their own, from where they are added to C at the end? Slices are added up in C where
  /// nothing else is to be done to it.
  bool keeps_sums(const ComplexGemmCall& call) const;

  /// Bytes of scratch memory: B expanded, A if it is transposed, sums if they are kept.
  std::size_t b(const ComplexGemmCall& call) const;
  std::size_t a(const ComplexGemmCall& call) const;
  std::size_t sums(const ComplexGemmCall& call) const;
  std::size_t bytes(const ComplexGemmCall& call) const { return b(call) + a(call) + sums(call); }
};

/// From row to row in scratch memory: whole cache lines, and no multiple of 2 KiB, of which a first cache holds few.
Index scratch_ld(Index cols, DType parts);

/// The whole product if it takes at most `limit` bytes; else blocks of equal sizes that do.
ComplexBlocks choose_complex_blocks(const ComplexGemmCall& call, std::size_t limit);

} // namespace tessera::detail
