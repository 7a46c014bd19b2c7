#pragma once

/// Transposes real blocks in cache. Squares of four vectors, or two, go through registers.

#include <tessera/types.hpp>

namespace tessera::linear_algebra {

using FourFloats [[gnu::vector_size(16), gnu::aligned(4), gnu::may_alias]] = float;
using TwoDoubles [[gnu::vector_size(16), gnu::aligned(8), gnu::may_alias]] = double;

[[gnu::always_inline]] inline void transpose_square(const float* from, Index ld_from, float* to, Index ld_to) {
  const auto row = [&](Index i) { return *reinterpret_cast<const FourFloats*>(from + i * ld_from); };
  const auto write = [&](Index j, FourFloats column) { *reinterpret_cast<FourFloats*>(to + j * ld_to) = column; };
  const FourFloats a = row(0), b = row(1), c = row(2), d = row(3);
  const FourFloats ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const FourFloats ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const FourFloats cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const FourFloats cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  write(0, __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5));
  write(1, __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7));
  write(2, __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5));
  write(3, __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7));
}
[[gnu::always_inline]] inline void transpose_square(const double* from, Index ld_from, double* to, Index ld_to) {
  const auto a = *reinterpret_cast<const TwoDoubles*>(from), b = *reinterpret_cast<const TwoDoubles*>(from + ld_from);
  *reinterpret_cast<TwoDoubles*>(to) = __builtin_shufflevector(a, b, 0, 2);
  *reinterpret_cast<TwoDoubles*>(to + ld_to) = __builtin_shufflevector(a, b, 1, 3);
}

/// to(j, i) = from(i, j) for a block rows×cols. The two do not overlap.
template <class T>
void transpose_block(Index rows, Index cols, const T* from, Index ld_from, T* to, Index ld_to) {
  constexpr Index edge = 16 / static_cast<Index>(sizeof(T));
  const Index whole_rows = rows / edge * edge, whole_cols = cols / edge * edge;
  for (Index i = 0; i < whole_rows; i += edge)
    for (Index j = 0; j < whole_cols; j += edge)
      transpose_square(from + i * ld_from + j, ld_from, to + j * ld_to + i, ld_to);
  for (Index i = 0; i < rows; ++i)
    for (Index j = i < whole_rows ? whole_cols : 0; j < cols; ++j) to[j * ld_to + i] = from[i * ld_from + j];
}

} // namespace tessera::linear_algebra
