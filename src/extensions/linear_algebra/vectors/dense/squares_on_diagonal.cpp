#include "squares.hpp"

#if TESSERA_HAS_WIDE

namespace tessera::vectors {
namespace {

template <class N>
struct SquareTerms {
  const N* const* column; ///< row 0 of the square's columns
  Index count;
  const N* x;
  bool conjugates_stored, conjugates_mirrored, real_diagonal;
};

/// A vector of an element of the diagonal at place c and what is left and right of it; its im becomes 0.
TESSERA_WIDE_CODE __m256 without_im(__m256 a, int c) {
  const __m256i place = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_andnot_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(place, _mm256_set1_epi32(2 * c + 1))), a);
}
TESSERA_WIDE_CODE __m256d without_im(__m256d a, int c) {
  const __m256i place = _mm256_setr_epi64x(0, 1, 2, 3);
  return _mm256_andnot_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(place, _mm256_set1_epi64x(2 * c + 1))), a);
}

/// The terms of vector b's columns k in the chains of vector v's rows, which are stored as they are.
template <int v, int b, bool is_whole, class N>
TESSERA_WIDE_CODE void add_stored(const SquareTerms<N>& a, WideOf<N>& sum) {
  constexpr int w = wide_numbers<N>;
#pragma GCC unroll 8
  for (int c = 0; c < w; ++c)
    if (is_whole || b * w + c < a.count)
      sum = step(times(a.x[b * w + c], a.conjugates_stored), load(parts_of(a.column[b * w + c] + v * w)), sum);
}
/// The same where the transpose is stored.
template <int v, int b, bool is_whole, class N>
TESSERA_WIDE_CODE void add_mirrored(const SquareTerms<N>& a, WideOf<N>& sum) {
  constexpr int w = wide_numbers<N>, rows = std::min(w, square_rows<N>);
#pragma GCC unroll 2
  for (int first = 0; first < w; first += rows) {
    WideOf<N> row[square_rows<N>];
    load_rows(of_vector(a.column, v, b * w + first), static_cast<const N*>(nullptr), row);
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r)
      if (is_whole || b * w + first + r < a.count)
        sum = step(times(a.x[b * w + first + r], a.conjugates_mirrored), row[r], sum);
  }
}
/// The same where the columns cross the diagonal.
template <int v, bool upper, bool is_whole, class N>
TESSERA_WIDE_CODE void add_crossed(const SquareTerms<N>& a, WideOf<N>& sum) {
  constexpr int w = wide_numbers<N>, rows = std::min(w, square_rows<N>);
#pragma GCC unroll 2
  for (int first = 0; first < w; first += rows) {
    WideOf<N> row[square_rows<N>];
    load_rows(of_vector(a.column, v, v * w + first), static_cast<const N*>(nullptr), row);
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) {
      const int c = first + r;
      if (!is_whole && v * w + c >= a.count) continue;
      const WideOf<N> mirrored = conjugate_of<N>(a.conjugates_mirrored, row[r]);
      const WideOf<N> stored = conjugate_of<N>(a.conjugates_stored, load(parts_of(a.column[v * w + c] + v * w)));
      const __m256i before = mask_of_first<N>(upper ? c + 1 : c);
      WideOf<N> both = upper ? chosen(before, stored, mirrored) : chosen(before, mirrored, stored);
      if constexpr (has_two_parts<N>)
        if (a.real_diagonal) both = without_im(both, c);
      sum = step(times(a.x[v * w + c], false), both, sum);
    }
  }
}

template <int v, int b, bool upper, bool is_whole, class N>
TESSERA_WIDE_CODE void add_vector(const SquareTerms<N>& a, WideOf<N>& sum) {
  if constexpr (v == b)
    add_crossed<v, upper, is_whole>(a, sum);
  else if constexpr ((v < b) == upper)
    add_stored<v, b, is_whole>(a, sum);
  else
    add_mirrored<v, b, is_whole>(a, sum);
}
/// Vector b's columns in the chains of all rows.
template <int b, bool upper, bool is_whole, class N, int vectors>
TESSERA_WIDE_CODE void add_columns_of(const SquareTerms<N>& a, WideOf<N> (&sum)[vectors]) {
  add_vector<0, b, upper, is_whole>(a, sum[0]);
  add_vector<1, b, upper, is_whole>(a, sum[1]);
  if constexpr (vectors > 2) {
    add_vector<2, b, upper, is_whole>(a, sum[2]);
    add_vector<3, b, upper, is_whole>(a, sum[3]);
  }
}
template <bool upper, bool is_whole, class N>
TESSERA_WIDE_CODE void add_square_of(const SquareTerms<N>& a, N* chain) {
  constexpr int w = wide_numbers<N>, vectors = static_cast<int>(tile_size<N>) / w;
  WideOf<N> sum[vectors];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; ++v) sum[v] = load(parts_of(chain + v * w));
  add_columns_of<0, upper, is_whole>(a, sum);
  add_columns_of<1, upper, is_whole>(a, sum);
  if constexpr (vectors > 2) {
    add_columns_of<2, upper, is_whole>(a, sum);
    add_columns_of<3, upper, is_whole>(a, sum);
  }
#pragma GCC unroll 4
  for (int v = 0; v < vectors; ++v) store(parts_of(chain + v * w), sum[v]);
}

template <class N>
TESSERA_WIDE_CODE void add_mirrored_square(const Walk<N>& a, const Mirror& mirror, Index count, const N* x, N* chain) {
  const N* column[tile_size<N>];
  SquareTerms<N> terms{column, count, x, mirror.conjugates_stored, mirror.conjugates_mirrored, mirror.real_diagonal};
  if (count == tile_size<N>) {
    columns_of(a, count, column);
    mirror.upper ? add_square_of<true, true>(terms, chain) : add_square_of<false, true>(terms, chain);
    return;
  }
  Block<N> block{};
  copy_block(a, count, false, block);
  for (Index c = 0; c < tile_size<N>; ++c) column[c] = block.column[c];
  mirror.upper ? add_square_of<true, false>(terms, chain) : add_square_of<false, false>(terms, chain);
}

} // namespace

#define TESSERA_SQUARE(N)                                                                             \
  TESSERA_WIDE_ENTRY void add_square(const Walk<N>& a, const Mirror& mirror, Index count, const N* x, \
                                     N* chain) noexcept {                                             \
    add_mirrored_square(a, mirror, count, x, chain);                                                  \
  }
TESSERA_SQUARE(float)
TESSERA_SQUARE(double)
TESSERA_SQUARE(ComplexNumber<float>)
TESSERA_SQUARE(ComplexNumber<double>)
#undef TESSERA_SQUARE

} // namespace tessera::vectors

#endif
