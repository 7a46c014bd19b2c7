#pragma once

/// The operands of a product of few rows or columns, as panel_product, panel_dmma and panel_ffma see them: vectors
/// along k, few of one and many of the other. Without CUDA.

#include <algorithm>
#include <cstdint>
#include <utility>

#include <tessera/backend/kernel.hpp>

namespace tessera::cuda::few_vectors {

constexpr int few = 16; ///< rows of the matrix instruction, vectors of the small operand

/// How an operand is stored.
struct Operand {
  const void* data;
  Index ld;
  bool along_k;
  Index count; ///< vectors
};

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

/// Whether lines of so many elements are whole, aligned chunks of 16 bytes.
inline bool is_whole(const void* data, Index length, Index ld, std::size_t element) noexcept {
  const Index bytes = static_cast<Index>(element);
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && length * bytes % 16 == 0 && ld * bytes % 16 == 0;
}

} // namespace tessera::cuda::few_vectors
