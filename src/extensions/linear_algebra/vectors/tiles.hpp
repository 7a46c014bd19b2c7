#pragma once

/// Chains of neighbouring columns side by side in vectors of 32 bytes, for processors with AVX2 and FMA: the elements
/// of a row come from as many columns as a tile has, by transposing squares of elements in registers.

#include <utility>

#include "groups.hpp"
#include "wide.hpp"

namespace tessera::vectors {

/// How many columns' chains a tile continues.
template <class N>
inline constexpr int tile_columns = has_two_parts<N> ? 8 : 16;

#if TESSERA_HAS_WIDE

/// Numbers of two columns, half a vector each.
TESSERA_WIDE_CODE __m256d halves(const double* low, const double* high) {
  return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(low)), _mm_loadu_pd(high), 1);
}
TESSERA_WIDE_CODE __m256 halves(const float* low, const float* high) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high), 1);
}

/// Loads a square of elements, `rows` from row i on, of as many columns. A vector becomes a row: halves of columns are
/// put together as they are loaded, so that the rest stays within halves.
TESSERA_WIDE_CODE void load_rows(const double* const* column, Index i, __m256d (&row)[4]) {
#pragma GCC unroll 2
  for (int r = 0; r < 4; r += 2) {
    const __m256d even = halves(column[0] + i + r, column[2] + i + r);
    const __m256d odd = halves(column[1] + i + r, column[3] + i + r);
    row[r] = _mm256_unpacklo_pd(even, odd);
    row[r + 1] = _mm256_unpackhi_pd(even, odd);
  }
}
TESSERA_WIDE_CODE void load_rows(const float* const* column, Index i, __m256 (&row)[8]) {
#pragma GCC unroll 2
  for (int r = 0; r < 8; r += 4) {
    const __m256 a = halves(column[0] + i + r, column[4] + i + r), b = halves(column[1] + i + r, column[5] + i + r);
    const __m256 c = halves(column[2] + i + r, column[6] + i + r), d = halves(column[3] + i + r, column[7] + i + r);
    const __m256 ab = _mm256_unpacklo_ps(a, b), cd = _mm256_unpacklo_ps(c, d);
    const __m256 ab_high = _mm256_unpackhi_ps(a, b), cd_high = _mm256_unpackhi_ps(c, d);
    row[r] = _mm256_shuffle_ps(ab, cd, 0x44);
    row[r + 1] = _mm256_shuffle_ps(ab, cd, 0xEE);
    row[r + 2] = _mm256_shuffle_ps(ab_high, cd_high, 0x44);
    row[r + 3] = _mm256_shuffle_ps(ab_high, cd_high, 0xEE);
  }
}

/// The chains of 16 columns, sum[0 … 15], go on with column[c][i]·x[i] for n rows, n being a multiple of the elements
/// of a vector; from the last row on where descending.
template <bool descending, class R>
TESSERA_WIDE_CODE void real_tile(const R* const* column, const R* x, Index n, R* sum) {
  // The next tile's columns, in pages that the processor does not expect: columns mostly lie one after another.
  const Index ahead = (column[1] - column[0]) * tile_columns<R>;
  constexpr int size = 32 / static_cast<int>(sizeof(R)), vectors = tile_columns<R> / size;
  WideOf<R> chain[vectors];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; ++v) chain[v] = load(sum + v * size);
  for (Index done = 0; done < n; done += size) {
    const Index first = descending ? n - done - size : done;
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      WideOf<R> square[size];
#pragma GCC unroll 8
      for (int c = 0; c < size; ++c) __builtin_prefetch(column[v * size + c] + first + ahead);
      load_rows(column + v * size, first, square);
#pragma GCC unroll 8
      for (int step = 0; step < size; ++step) {
        const int r = descending ? size - 1 - step : step;
        chain[v] = fused(square[r], spread(x[first + r]), chain[v]);
      }
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < vectors; ++v) store(sum + v * size, chain[v]);
}

/// Returns the numbers of neighbouring columns side by side.
TESSERA_WIDE_CODE __m256d row_of(const ComplexNumber<double>* const* column, Index i) {
  return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(&column[0][i].re)), _mm_loadu_pd(&column[1][i].re),
                              1);
}
TESSERA_WIDE_CODE __m256 row_of(const ComplexNumber<float>* const* column, Index i) {
  const auto pair = [=](int c) __attribute__((target("avx2,fma"))) {
    const auto number = [=](int which) __attribute__((target("avx2,fma"))) {
      double bits;
      __builtin_memcpy(&bits, &column[which][i], sizeof bits);
      return bits;
    };
    return _mm_set_pd(number(c + 1), number(c));
  };
  return _mm256_castpd_ps(_mm256_insertf128_pd(_mm256_castpd128_pd256(pair(0)), pair(2), 1));
}
/// The chains of 8 columns, whose parts alternate in `sum`, go on with column[c][i]·x[i], or with the columns'
/// conjugates, for n rows.
template <bool descending, class R>
TESSERA_WIDE_CODE void complex_tile(const ComplexNumber<R>* const* column, const ComplexNumber<R>* x, Index n,
                                    bool conjugated, R* sum) {
  constexpr int numbers = 16 / static_cast<int>(sizeof(R)), vectors = tile_columns<ComplexNumber<R>> / numbers;
  WideOf<R> chain[vectors];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; ++v) chain[v] = load(sum + v * 2 * numbers);
  for (Index done = 0; done < n; ++done) {
    const Index i = descending ? n - 1 - done : done;
    const Times<ComplexNumber<R>> by = times(x[i], conjugated);
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      const WideOf<R> a = row_of(column + v * numbers, i);
      chain[v] = step(by, a, chain[v]);
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < vectors; ++v) store(sum + v * 2 * numbers, chain[v]);
}

#define TESSERA_TILE(R)                                                                                                \
  [[gnu::target("avx2,fma"), gnu::noinline]] inline void run_tile(const R* const* column, const R* x, Index n,         \
                                                                  bool descending, bool, R* sum) {                     \
    if (descending)                                                                                                    \
      real_tile<true>(column, x, n, sum);                                                                              \
    else                                                                                                               \
      real_tile<false>(column, x, n, sum);                                                                             \
  }                                                                                                                    \
  [[gnu::target("avx2,fma"), gnu::noinline]] inline void run_tile(const ComplexNumber<R>* const* column,               \
                                                                  const ComplexNumber<R>* x, Index n, bool descending, \
                                                                  bool conjugated, R* sum) {                           \
    if (descending)                                                                                                    \
      complex_tile<true>(column, x, n, conjugated, sum);                                                               \
    else                                                                                                               \
      complex_tile<false>(column, x, n, conjugated, sum);                                                              \
  }
TESSERA_TILE(float)
TESSERA_TILE(double)
#undef TESSERA_TILE

/// Continues the chains of the group's columns q … q + tile_columns − 1 by whole tiles of the rows i0 … i1 − 1, and
/// takes these rows off the range. `x` is of row r0.
template <class N>
void add_tiles(const Group<N>& group, int q, const N* x, Index& i0, Index& i1, Index r0, bool descending, Index k0,
               Chains<N>& chains) {
  using R = RealOf<N>;
  constexpr int columns = tile_columns<N>, parts = Parts<N>::count;
  constexpr Index rows = has_two_parts<N> ? 1 : 32 / static_cast<Index>(sizeof(R));
  const Index n = (i1 - i0) - (i1 - i0) % rows, first = descending ? i1 - n : i0;
  const N* column[columns];
  alignas(32) R sum[columns * parts];
  for (int c = 0; c < columns; ++c) {
    column[c] = group.column[q + c] + first;
    for (int p = 0; p < parts; ++p) sum[c * parts + p] = chains.part[p][group.number[q + c] - k0];
  }
  run_tile(column, x + (first - r0), n, descending, group.conjugated, sum);
  for (int c = 0; c < columns; ++c)
    for (int p = 0; p < parts; ++p) chains.part[p][group.number[q + c] - k0] = sum[c * parts + p];
  (descending ? i1 : i0) += descending ? -n : n;
}

#else

template <class N>
void add_tiles(const Group<N>&, int, const N*, Index&, Index&, Index, bool, Index, Chains<N>&) {}

#endif

} // namespace tessera::vectors
