#pragma once

/// Squares of a matrix in registers: a vector gets the elements of one row, which come from as many neighbouring
/// columns as it holds numbers.

#include "dense.hpp"

#if TESSERA_HAS_WIDE

namespace tessera::vectors {

/// How many rows are loaded at once.
template <class N>
inline constexpr int square_rows = sizeof(N) == 16 ? 2 : 4;

TESSERA_WIDE_CODE __m256d halves(__m128d low, __m128d high) {
  return _mm256_insertf128_pd(_mm256_castpd128_pd256(low), high, 1);
}
TESSERA_WIDE_CODE __m256 halves(__m128 low, __m128 high) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1);
}

/// Load four rows of as many neighbouring columns as a vector holds. column(c) is where the columns' rows begin.
template <class Column>
TESSERA_WIDE_CODE void load_doubles(const Column& column, __m256d (&row)[4]) {
  const double *const a = column(0), *const b = column(1), *const c = column(2), *const d = column(3);
  const __m256d even = halves(_mm_loadu_pd(a), _mm_loadu_pd(c)), odd = halves(_mm_loadu_pd(b), _mm_loadu_pd(d));
  row[0] = _mm256_unpacklo_pd(even, odd);
  row[1] = _mm256_unpackhi_pd(even, odd);
  // The upper halves of two columns are where they have to be: a blend is cheaper than to put halves together.
  const __m256d later_even = _mm256_blend_pd(_mm256_castpd128_pd256(_mm_loadu_pd(a + 2)), _mm256_loadu_pd(c), 0xC);
  const __m256d later_odd = _mm256_blend_pd(_mm256_castpd128_pd256(_mm_loadu_pd(b + 2)), _mm256_loadu_pd(d), 0xC);
  row[2] = _mm256_unpacklo_pd(later_even, later_odd);
  row[3] = _mm256_unpackhi_pd(later_even, later_odd);
}
template <class Column>
TESSERA_WIDE_CODE void load_doubles(const Column& column, __m256i mask, __m256d (&row)[4]) {
  const __m256d a = _mm256_maskload_pd(column(0), mask), b = _mm256_maskload_pd(column(1), mask);
  const __m256d c = _mm256_maskload_pd(column(2), mask), d = _mm256_maskload_pd(column(3), mask);
  const __m256d ab = _mm256_unpacklo_pd(a, b), ab_odd = _mm256_unpackhi_pd(a, b);
  const __m256d cd = _mm256_unpacklo_pd(c, d), cd_odd = _mm256_unpackhi_pd(c, d);
  row[0] = _mm256_permute2f128_pd(ab, cd, 0x20);
  row[1] = _mm256_permute2f128_pd(ab_odd, cd_odd, 0x20);
  row[2] = _mm256_permute2f128_pd(ab, cd, 0x31);
  row[3] = _mm256_permute2f128_pd(ab_odd, cd_odd, 0x31);
}
TESSERA_WIDE_CODE void turn(__m256 a, __m256 b, __m256 c, __m256 d, __m256 (&row)[4]) {
  const __m256 ab = _mm256_unpacklo_ps(a, b), cd = _mm256_unpacklo_ps(c, d);
  const __m256 ab_high = _mm256_unpackhi_ps(a, b), cd_high = _mm256_unpackhi_ps(c, d);
  row[0] = _mm256_shuffle_ps(ab, cd, 0x44);
  row[1] = _mm256_shuffle_ps(ab, cd, 0xEE);
  row[2] = _mm256_shuffle_ps(ab_high, cd_high, 0x44);
  row[3] = _mm256_shuffle_ps(ab_high, cd_high, 0xEE);
}

/// Where neighbouring columns begin: at equal distances, or anywhere.
template <class N>
struct Stepped {
  const N* first;
  Index step;
  TESSERA_WIDE_CODE const N* operator()(int c) const { return first + c * step; }
};
template <class N>
struct Scattered {
  const N* const* columns;
  Index row;
  TESSERA_WIDE_CODE const N* operator()(int c) const { return columns[c] + row; }
};

template <class Column>
struct AsDoubles { ///< complex floats are moved as doubles are
  const Column& column;
  TESSERA_WIDE_CODE const double* operator()(int c) const { return reinterpret_cast<const double*>(column(c)); }
};

/// Load four rows, or the first `count` of them, which are fewer.
template <class Column>
TESSERA_WIDE_CODE void load_rows(const Column& column, const double*, __m256d (&row)[4]) {
  load_doubles(column, row);
}
template <class Column>
TESSERA_WIDE_CODE void load_rows(const Column& column, const double*, Index count, __m256d (&row)[4]) {
  load_doubles(column, mask_of_first<double>(count), row);
}
template <class Column>
TESSERA_WIDE_CODE void load_rows(const Column& column, const float*, __m256 (&row)[4]) {
  turn(halves(_mm_loadu_ps(column(0)), _mm_loadu_ps(column(4))),
       halves(_mm_loadu_ps(column(1)), _mm_loadu_ps(column(5))),
       halves(_mm_loadu_ps(column(2)), _mm_loadu_ps(column(6))),
       halves(_mm_loadu_ps(column(3)), _mm_loadu_ps(column(7))), row);
}
template <class Column>
TESSERA_WIDE_CODE void load_rows(const Column& column, const float*, Index count, __m256 (&row)[4]) {
  const __m128i mask = _mm256_castsi256_si128(mask_of_first<float>(count));
  __m256 pair[4];
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) pair[c] = halves(_mm_maskload_ps(column(c), mask), _mm_maskload_ps(column(c + 4), mask));
  turn(pair[0], pair[1], pair[2], pair[3], row);
}
template <class Column>
TESSERA_WIDE_CODE void load_rows(const Column& column, const ComplexNumber<float>*, __m256 (&row)[4]) {
  __m256d rows[4];
  load_doubles(AsDoubles<Column>{column}, rows);
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) row[r] = _mm256_castpd_ps(rows[r]);
}
template <class Column>
TESSERA_WIDE_CODE void load_rows(const Column& column, const ComplexNumber<float>*, Index count, __m256 (&row)[4]) {
  __m256d rows[4];
  load_doubles(AsDoubles<Column>{column}, mask_of_first<double>(count), rows);
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) row[r] = _mm256_castpd_ps(rows[r]);
}
template <class Column>
TESSERA_WIDE_CODE void load_rows(const Column& column, const ComplexNumber<double>*, __m256d (&row)[2]) {
  const double *const a = parts_of(column(0)), *const b = parts_of(column(1));
  row[0] = halves(_mm_loadu_pd(a), _mm_loadu_pd(b));
  row[1] = _mm256_blend_pd(_mm256_castpd128_pd256(_mm_loadu_pd(a + 2)), _mm256_loadu_pd(b), 0xC);
}
template <class Column>
TESSERA_WIDE_CODE void load_rows(const Column& column, const ComplexNumber<double>*, Index count, __m256d (&row)[2]) {
  row[0] = count > 0 ? halves(_mm_loadu_pd(&column(0)[0].re), _mm_loadu_pd(&column(1)[0].re)) : _mm256_setzero_pd();
  row[1] = count > 1 ? halves(_mm_loadu_pd(&column(0)[1].re), _mm_loadu_pd(&column(1)[1].re)) : _mm256_setzero_pd();
}

/// The neighbouring columns of vector v of a tile, from a row on.
template <class N>
TESSERA_WIDE_CODE Stepped<N> of_vector(const Walk<N>& a, int v, Index row) {
  return {a.first + v * wide_numbers<N> * a.step + row, a.step};
}
template <class N>
TESSERA_WIDE_CODE Scattered<N> of_vector(const N* const* columns, int v, Index row) {
  return {columns + v * wide_numbers<N>, row};
}

/// The numbers, or their conjugates.
TESSERA_WIDE_CODE __m256 conjugate_of(__m256 a) { return with_signs(a, signs_of(0.0f, true)); }
TESSERA_WIDE_CODE __m256d conjugate_of(__m256d a) { return with_signs(a, signs_of(0.0, true)); }
template <class N>
TESSERA_WIDE_CODE WideOf<N> conjugate_of(bool conjugated, WideOf<N> a) {
  if constexpr (has_two_parts<N>) return conjugated ? conjugate_of(a) : a;
  return a;
}

} // namespace tessera::vectors

#endif
