#pragma once

/// The operands of a product of few rows or columns, as the few_vectors kernels of slender/ see them: vectors along k,
/// few of one operand and many of the other. Needs no CUDA.

#include <algorithm>
#include <cstdint>
#include <utility>

#include <tessera/backend/kernel.hpp>

namespace tessera::cuda::few_vectors {

constexpr int few = 16;             ///< vectors of a group of the small operand: the rows of the matrix instruction
constexpr int most_small = 4 * few; ///< vectors of the small operand, at most, where its groups run beside each other

/// An operand: `count` vectors along k. `along_k`: the elements of a vector are neighbours in memory.
struct Operand {
  const void* data;
  Index ld;
  bool along_k;
  Index count;
};

/// Both operands of a product, by size.
struct Operands {
  bool swapped; ///< the large operand is A
  Operand small, large;

  explicit Operands(const GemmCall& call) noexcept
      : swapped(call.n < call.m),
        small{call.a, call.lda, call.op_a == Op::None, call.m},
        large{call.b, call.ldb, call.op_b == Op::Transpose, call.n} {
    if (swapped) std::swap(small, large);
  }
};

/// Returns whether lines of `length` elements, `ld` elements apart, of `element` bytes each, are whole, aligned chunks
/// of 16 bytes.
inline bool is_whole(const void* data, Index length, Index ld, std::size_t element) noexcept {
  const Index bytes = static_cast<Index>(element);
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && length * bytes % 16 == 0 && ld * bytes % 16 == 0;
}

} // namespace tessera::cuda::few_vectors
