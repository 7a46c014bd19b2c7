#include "dense.hpp"

#if TESSERA_HAS_WIDE

namespace tessera::vectors {
namespace {

// Rows side by side.

/// Rows of `vectors` vectors, the last of which has the numbers of the mask where is_cut.
template <int vectors, bool is_cut, class N>
TESSERA_WIDE_CODE void walk_rows(Walk<N> a, Index count, const N* x, bool conjugated, [[maybe_unused]] __m256i mask,
                                 N* chain) {
  constexpr int w = wide_numbers<N>;
  WideOf<N> sum[vectors];
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v) sum[v] = load(parts_of(chain + v * w));
  const N* column = a.first;
  Index next = a.step;
  for (Index k = 0; k < count; ++k) {
    const Times<N> by = times(x[k], conjugated);
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
      const RealOf<N>* const at = parts_of(column + v * w);
      if (is_cut && v == vectors - 1)
        sum[v] = step(by, load_masked(at, mask), sum[v]);
      else
        sum[v] = step(by, load(at), sum[v]);
    }
    column += next;
    next += a.growth;
  }
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v) store(parts_of(chain + v * w), sum[v]);
}

template <class N>
TESSERA_WIDE_CODE void walk(Walk<N> a, Index rows, Index count, const N* x, bool conjugated, N* chain) {
  constexpr Index w = wide_numbers<N>, most = 8 * w;
  for (; rows >= most; rows -= most, a.first += most, chain += most)
    walk_rows<8, false>(a, count, x, conjugated, _mm256_setzero_si256(), chain);
  if (rows == 0) return;
  const Index vectors = (rows + w - 1) / w;
  const __m256i mask = mask_of_first<N>(rows - (vectors - 1) * w);
  switch (vectors) {
    case 1:
      return walk_rows<1, true>(a, count, x, conjugated, mask, chain);
    case 2:
      return walk_rows<2, true>(a, count, x, conjugated, mask, chain);
    case 3:
      return walk_rows<3, true>(a, count, x, conjugated, mask, chain);
    case 4:
      return walk_rows<4, true>(a, count, x, conjugated, mask, chain);
    case 5:
      return walk_rows<5, true>(a, count, x, conjugated, mask, chain);
    case 6:
      return walk_rows<6, true>(a, count, x, conjugated, mask, chain);
    case 7:
      return walk_rows<7, true>(a, count, x, conjugated, mask, chain);
    default:
      return walk_rows<8, true>(a, count, x, conjugated, mask, chain);
  }
}

// Columns side by side: elements of a row come from as many columns as a vector holds.

constexpr int square_rows = 4;

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
TESSERA_WIDE_CODE void load_rows(const Column& column, const ComplexNumber<double>*, __m256d (&row)[4]) {
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) row[r] = halves(_mm_loadu_pd(&column(0)[r].re), _mm_loadu_pd(&column(1)[r].re));
}
template <class Column>
TESSERA_WIDE_CODE void load_rows(const Column& column, const ComplexNumber<double>*, Index count, __m256d (&row)[4]) {
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r)
    row[r] = r < count ? halves(_mm_loadu_pd(&column(0)[r].re), _mm_loadu_pd(&column(1)[r].re)) : _mm256_setzero_pd();
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

/// The chains of `vectors` vectors of columns, `a` being a walk without growth or the columns' addresses.
template <int vectors, bool descending, class N, class Where>
TESSERA_WIDE_CODE void turned_tile(const Where& a, Index rows, const N* x, bool conjugated, N* chain) {
  constexpr int w = wide_numbers<N>;
  WideOf<N> sum[vectors];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; ++v) sum[v] = load(parts_of(chain + v * w));
  const Index rest = rows % square_rows, whole = rows - rest;
  for (Index done = 0; done < whole; done += square_rows) {
    const Index first = descending ? rows - done - square_rows : done;
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      WideOf<N> row[square_rows];
      load_rows(of_vector(a, v, first), static_cast<const N*>(nullptr), row);
#pragma GCC unroll 4
      for (int s = 0; s < square_rows; ++s) {
        const int r = descending ? square_rows - 1 - s : s;
        sum[v] = step(times(x[first + r], conjugated), row[r], sum[v]);
      }
    }
  }
  if (rest > 0) {
    const Index first = descending ? 0 : whole;
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      WideOf<N> row[square_rows];
      load_rows(of_vector(a, v, first), static_cast<const N*>(nullptr), rest, row);
#pragma GCC unroll 4
      for (int s = 0; s < square_rows; ++s) {
        const int r = descending ? square_rows - 1 - s : s;
        if (r < rest) sum[v] = step(times(x[first + r], conjugated), row[r], sum[v]);
      }
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < vectors; ++v) store(parts_of(chain + v * w), sum[v]);
}

template <bool descending, class N>
TESSERA_WIDE_CODE void turned(Walk<N> a, Index rows, Index count, const N* x, bool conjugated, N* chain) {
  constexpr int w = wide_numbers<N>, vectors = static_cast<int>(tile_size<N>) / w;
  const N* columns[tile_size<N>];
  for (; count > 0; count -= tile_size<N>, chain += tile_size<N>) {
    if (count >= tile_size<N> && a.growth == 0) {
      turned_tile<vectors, descending>(a, rows, x, conjugated, chain);
      a.first += tile_size<N> * a.step;
      continue;
    }
    Index goes_on = 1;
    for (int c = 0; c < tile_size<N>; ++c) { // after the last column the last one is read again, in vain
      columns[c] = a.first;
      if (c + 1 == count) goes_on = 0;
      a.first += a.step * goes_on;
      a.step += a.growth;
    }
    const N* const* const where = columns;
    const Index needed = (std::min(count, tile_size<N>) + w - 1) / w;
    if (needed == 1) turned_tile<1, descending>(where, rows, x, conjugated, chain);
    if (needed == 2) turned_tile<2, descending>(where, rows, x, conjugated, chain);
    if constexpr (vectors > 2) {
      if (needed == 3) turned_tile<3, descending>(where, rows, x, conjugated, chain);
      if (needed == 4) turned_tile<4, descending>(where, rows, x, conjugated, chain);
    }
  }
}

/// The columns first … first + width − 1 of a triangle, which is cut in vector number `cut` of the rows.
template <int cut, bool lower, class N>
TESSERA_WIDE_CODE void add_triangle_columns(const Block<N>& block, Index count, const N* x, bool conjugated,
                                            WideOf<N> (&sum)[tile_size<N> / wide_numbers<N>]) {
  constexpr int w = wide_numbers<N>, vectors = static_cast<int>(tile_size<N>) / w;
  for (int c = 0; c < w && cut * w + c < count; ++c) {
    const N* const column = block.column[cut * w + c];
    const Times<N> by = times(x[cut * w + c], conjugated);
    const __m256i before = mask_of_first<N>(lower ? c : c + 1);
    const WideOf<N> next = step(by, load(parts_of(column + cut * w)), sum[cut]);
    sum[cut] = lower ? chosen(before, sum[cut], next) : chosen(before, next, sum[cut]);
#pragma GCC unroll 4
    for (int v = lower ? cut + 1 : 0; v < (lower ? vectors : cut); ++v)
      sum[v] = step(by, load(parts_of(column + v * w)), sum[v]);
  }
}
template <bool lower, class N>
TESSERA_WIDE_CODE void add_triangle(const Block<N>& block, Index count, const N* x, bool conjugated, N* chain) {
  constexpr int w = wide_numbers<N>, vectors = static_cast<int>(tile_size<N>) / w;
  WideOf<N> sum[vectors];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; ++v) sum[v] = load(parts_of(chain + v * w));
  add_triangle_columns<0, lower>(block, count, x, conjugated, sum);
  add_triangle_columns<1, lower>(block, count, x, conjugated, sum);
  if constexpr (vectors > 2) {
    add_triangle_columns<2, lower>(block, count, x, conjugated, sum);
    add_triangle_columns<3, lower>(block, count, x, conjugated, sum);
  }
#pragma GCC unroll 4
  for (int v = 0; v < vectors; ++v) store(parts_of(chain + v * w), sum[v]);
}

template <class N>
TESSERA_WIDE_CODE void turn_columns(Walk<N> a, Index rows, Index count, Block<N>& block) {
  const N* columns[tile_size<N>];
  for (int c = 0; c < tile_size<N>; ++c) { // after the last column the last one is read again, in vain
    columns[c] = a.first;
    if (c + 1 >= count) continue;
    a.first += a.step;
    a.step += a.growth;
  }
  const N* const* const where = columns;
  const int vectors = static_cast<int>((count + wide_numbers<N> - 1) / wide_numbers<N>);
  for (Index first = 0; first < rows; first += square_rows)
    for (int v = 0; v < vectors; ++v) {
      WideOf<N> row[square_rows];
      if (first + square_rows <= rows)
        load_rows(of_vector(where, v, first), static_cast<const N*>(nullptr), row);
      else
        load_rows(of_vector(where, v, first), static_cast<const N*>(nullptr), rows - first, row);
#pragma GCC unroll 4
      for (int r = 0; r < square_rows; ++r)
        if (first + r < rows) store(parts_of(&block.column[first + r][v * wide_numbers<N>]), row[r]);
    }
}

/// The block's triangle that is not the stored one stays, and the stored one comes from the matrix.
template <bool upper, class N>
TESSERA_WIDE_CODE void put_triangle(Walk<N> a, Index count, Block<N>& block) {
  constexpr int w = wide_numbers<N>, vectors = static_cast<int>(tile_size<N>) / w;
  for (Index c = 0; c < count; ++c) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      const __m256i stored = mask_of_first<N>((upper ? c + 1 : count) - v * w);
      const __m256i mirrored = mask_of_first<N>((upper ? 0 : c) - v * w);
      auto* const at = parts_of(&block.column[c][v * w]);
      const __m256i taken = _mm256_andnot_si256(mirrored, stored);
      store(at, chosen(taken, load_masked(parts_of(a.first + v * w), taken), load(at)));
    }
    a.first += a.step;
    a.step += a.growth;
  }
}

/// a[i] += u[i]·v for `count` rows.
template <class N>
TESSERA_WIDE_CODE void add_to_column(N* a, Index count, const N* u, const Times<N>& by) {
  constexpr Index w = wide_numbers<N>;
  Index i = 0;
  for (; i + 4 * w <= count; i += 4 * w)
#pragma GCC unroll 4
    for (Index v = 0; v < 4; ++v) {
      auto* const at = parts_of(a + i + v * w);
      store(at, step(by, load(parts_of(u + i + v * w)), load(at)));
    }
  for (; i + w <= count; i += w) store(parts_of(a + i), step(by, load(parts_of(u + i)), load(parts_of(a + i))));
  if (i == count) return;
  const __m256i mask = mask_of_first<N>(count - i);
  store_masked(parts_of(a + i), mask, step(by, load_masked(parts_of(u + i), mask), load_masked(parts_of(a + i), mask)));
}

template <bool twice, class N>
TESSERA_WIDE_CODE void outer(const OuterWalk<N>& a, const N* u, const N* v, const N* other_u, const N* other_v,
                             bool conjugates_u) {
  N* column = a.first;
  Index next = a.step;
  for (Index k = 0; k < a.count; ++k) {
    const Index first = a.part == Part::Lower ? std::clamp<Index>(k + a.offset, 0, a.rows) : 0;
    const Index end = a.part == Part::Upper ? std::clamp<Index>(k + a.offset + 1, 0, a.rows) : a.rows;
    add_to_column(column + first, end - first, u + first, times(v[k], conjugates_u));
    if constexpr (twice) add_to_column(column + first, end - first, other_u + first, times(other_v[k], conjugates_u));
    column += next;
    next += a.growth;
  }
}

} // namespace

#define TESSERA_DENSE(N)                                                                                         \
  TESSERA_WIDE_ENTRY void add_walk(const Walk<N>& a, Index rows, Index count, const N* x, bool conjugated,       \
                                   N* chain) noexcept {                                                          \
    walk(a, rows, count, x, conjugated, chain);                                                                  \
  }                                                                                                              \
  TESSERA_WIDE_ENTRY void add_turned(const Walk<N>& a, Index rows, Index count, const N* x, bool conjugated,     \
                                     bool descending, N* chain) noexcept {                                       \
    descending ? turned<true>(a, rows, count, x, conjugated, chain)                                              \
               : turned<false>(a, rows, count, x, conjugated, chain);                                            \
  }                                                                                                              \
  TESSERA_WIDE_ENTRY void add_block(const Block<N>& block, Index count, bool lower, const N* x, bool conjugated, \
                                    N* chain) noexcept {                                                         \
    lower ? add_triangle<true>(block, count, x, conjugated, chain)                                               \
          : add_triangle<false>(block, count, x, conjugated, chain);                                             \
  }                                                                                                              \
  TESSERA_WIDE_ENTRY void turn_block(const Walk<N>& a, Index rows, Index count, Block<N>& block) noexcept {      \
    turn_columns(a, rows, count, block);                                                                         \
  }                                                                                                              \
  TESSERA_WIDE_ENTRY void put_in_block(const Walk<N>& a, Index count, bool upper, Block<N>& block) noexcept {    \
    upper ? put_triangle<true>(a, count, block) : put_triangle<false>(a, count, block);                          \
  }                                                                                                              \
  TESSERA_WIDE_ENTRY void add_outer(const OuterWalk<N>& a, const N* u, const N* v, bool conjugates_u) noexcept { \
    outer<false>(a, u, v, u, v, conjugates_u);                                                                   \
  }                                                                                                              \
  TESSERA_WIDE_ENTRY void add_outers(const OuterWalk<N>& a, const N* u, const N* v, const N* other_u,            \
                                     const N* other_v) noexcept {                                                \
    outer<true>(a, u, v, other_u, other_v, false);                                                               \
  }
TESSERA_DENSE(float)
TESSERA_DENSE(double)
TESSERA_DENSE(ComplexNumber<float>)
TESSERA_DENSE(ComplexNumber<double>)
#undef TESSERA_DENSE

} // namespace tessera::vectors

#endif
