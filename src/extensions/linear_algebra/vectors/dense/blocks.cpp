#include "squares.hpp"

#if TESSERA_HAS_WIDE

namespace tessera::vectors {
namespace {

/// The columns first … first + width − 1 of a triangle, which is cut in vector number `cut` of the rows.
template <int cut, bool lower, class N>
TESSERA_WIDE_CODE void add_triangle_columns(Walk<N>& a, Index count, const N* x,
                                            WideOf<N> (&sum)[tile_size<N> / wide_numbers<N>]) {
  constexpr int w = wide_numbers<N>, vectors = static_cast<int>(tile_size<N>) / w;
  for (int c = 0; c < w && cut * w + c < count; ++c) {
    const N* const column = a.first;
    const Times<N> by = times(x[cut * w + c], false);
    const __m256i before = mask_of_first<N>(lower ? c : c + 1);
    const WideOf<N> next = step(by, load(parts_of(column + cut * w)), sum[cut]);
    sum[cut] = lower ? chosen(before, sum[cut], next) : chosen(before, next, sum[cut]);
#pragma GCC unroll 4
    for (int v = lower ? cut + 1 : 0; v < (lower ? vectors : cut); ++v)
      sum[v] = step(by, load(parts_of(column + v * w)), sum[v]);
    a.first += a.step;
    a.step += a.growth;
  }
}
template <bool lower, class N>
TESSERA_WIDE_CODE void add_triangle(Walk<N> a, Index count, const N* x, N* chain) {
  constexpr int w = wide_numbers<N>, vectors = static_cast<int>(tile_size<N>) / w;
  WideOf<N> sum[vectors];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; ++v) sum[v] = load(parts_of(chain + v * w));
  add_triangle_columns<0, lower>(a, count, x, sum);
  add_triangle_columns<1, lower>(a, count, x, sum);
  if constexpr (vectors > 2) {
    add_triangle_columns<2, lower>(a, count, x, sum);
    add_triangle_columns<3, lower>(a, count, x, sum);
  }
#pragma GCC unroll 4
  for (int v = 0; v < vectors; ++v) store(parts_of(chain + v * w), sum[v]);
}

/// Squares that have nothing of the triangle are left out.
template <class N>
TESSERA_WIDE_CODE void turn_columns(const Walk<N>& a, Index count, bool lower, bool conjugated, Block<N>& block) {
  const N* columns[tile_size<N>];
  columns_of(a, count, columns);
  for (Index c = count; c < tile_size<N>; ++c) columns[c] = columns[count - 1]; // read again, in vain
  const N* const* const where = columns;
  constexpr int w = wide_numbers<N>, rows = square_rows<N>;
  const int vectors = static_cast<int>((count + w - 1) / w);
  for (Index first = 0; first < count; first += rows)
    for (int v = lower ? static_cast<int>(first / w) : 0; v < (lower ? vectors : (first + rows - 1) / w + 1); ++v) {
      if (v >= vectors) break;
      WideOf<N> row[rows];
      if (first + rows <= count)
        load_rows(of_vector(where, v, first), static_cast<const N*>(nullptr), row);
      else
        load_rows(of_vector(where, v, first), static_cast<const N*>(nullptr), count - first, row);
#pragma GCC unroll 4
      for (int r = 0; r < rows; ++r)
        if (first + r < count) store(parts_of(&block.column[first + r][v * w]), conjugate_of<N>(conjugated, row[r]));
    }
}

template <class N>
TESSERA_WIDE_CODE void copy_columns(const Walk<N>& a, Index count, bool conjugated, Block<N>& block) {
  constexpr int w = wide_numbers<N>, vectors = static_cast<int>(tile_size<N>) / w;
  Walk<N> walk = a;
  for (Index c = 0; c < count; ++c) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v)
      store(parts_of(&block.column[c][v * w]),
            conjugate_of<N>(conjugated, load_masked(parts_of(walk.first + v * w), mask_of_first<N>(count - v * w))));
    walk.first += walk.step;
    walk.step += walk.growth;
  }
}

} // namespace

#define TESSERA_BLOCKS(N)                                                                                        \
  TESSERA_WIDE_ENTRY void add_block(const Walk<N>& a, Index count, bool lower, const N* x, N* chain) noexcept {  \
    lower ? add_triangle<true>(a, count, x, chain) : add_triangle<false>(a, count, x, chain);                    \
  }                                                                                                              \
  TESSERA_WIDE_ENTRY void turn_block(const Walk<N>& a, Index count, bool lower, bool conjugated,                 \
                                     Block<N>& block) noexcept {                                                 \
    turn_columns(a, count, lower, conjugated, block);                                                            \
  }                                                                                                              \
  TESSERA_WIDE_ENTRY void copy_block(const Walk<N>& a, Index count, bool conjugated, Block<N>& block) noexcept { \
    copy_columns(a, count, conjugated, block);                                                                   \
  }
TESSERA_BLOCKS(float)
TESSERA_BLOCKS(double)
TESSERA_BLOCKS(ComplexNumber<float>)
TESSERA_BLOCKS(ComplexNumber<double>)
#undef TESSERA_BLOCKS

} // namespace tessera::vectors

#endif
