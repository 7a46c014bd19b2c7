#include "dense_products.hpp"

#include <cmath>

#include "dense.hpp"
#include "division.hpp"
#include "groups.hpp"

namespace tessera::vectors {

#if TESSERA_HAS_WIDE
namespace {

/// Chains side by side, with room for a vector after the last one.
template <class N, Index most>
struct ChainsSideBySide {
  alignas(32) N at[most + wide_numbers<N>];
};

/// Calls part(begin, end) for the parts of first … end − 1 that are cut at multiples of a segment.
template <class N, class Part>
void for_cuts(Index first, Index end, const Part& part) {
  for (Index begin = first; begin < end;) {
    const Index stop = std::min(end, begin - begin % segment<N> + segment<N>);
    part(begin, stop);
    begin = stop;
  }
}

template <class N>
bool is_zero_number(const N& x) {
  if constexpr (has_two_parts<N>)
    return x.re == 0 && x.im == 0;
  else
    return x == 0;
}

template <class N>
bool is_whole(const Columns<const N>& a) {
  return a.below >= a.rows - 1 && a.above >= a.cols - 1;
}
template <class N>
bool is_whole_triangle(const Columns<const N>& t) {
  return (t.above == 0 && t.below >= t.rows - 1) || (t.below == 0 && t.above >= t.rows - 1);
}

/// The columns from k on, in rows from i on.
template <class N>
Walk<N> walk_from(const Columns<const N>& a, Index i, Index k) {
  return {a.column(k) + i, a.step + a.growth * (k + 1), a.growth};
}
/// The columns from k on, backwards.
template <class N>
Walk<N> walk_back(const Columns<const N>& a, Index i, Index k) {
  return {a.column(k) + i, -(a.step + a.growth * k), a.growth};
}

/// Rows side by side are walked through column after column: matrices that are larger than this are read faster by
/// columns that follow one another in memory.
template <class N>
bool is_near(const Columns<const N>& a) {
  constexpr Index near_bytes = Index{1} << (has_two_parts<N> ? 19 : 18);
  return a.rows * a.cols * static_cast<Index>(sizeof(N)) <= near_bytes;
}

template <class R>
TESSERA_WIDE_CODE void end_one(const R& alpha, const R& s, bool reads_y, const R& beta, R& y) {
  const R r = alpha * s;
  y = reads_y ? std::fma(beta, y, r) : r;
}
template <class R>
TESSERA_WIDE_CODE void end_one(const ComplexNumber<R>& alpha, const ComplexNumber<R>& s, bool reads_y,
                               const ComplexNumber<R>& beta, ComplexNumber<R>& y) {
  const ComplexNumber<R> r = scaled(alpha, s);
  y = reads_y ? added(beta, y, r) : r;
}
template <class N>
TESSERA_WIDE_ENTRY void end_sums(const N* s, const N& alpha, const N& beta, const Strided<N>& y) {
  const bool reads_y = !is_zero_number(beta);
  const N by = alpha, by_y = beta;
  if (y.is_contiguous())
    for (Index i = 0; i < y.size; ++i) end_one(by, s[i], reads_y, by_y, y.first[i]);
  else
    for (Index i = 0; i < y.size; ++i) end_one(by, s[i], reads_y, by_y, y[i]);
}

template <class N>
bool multiply_strip(const Columns<const N>& a, Form form, const N& alpha, const Strided<const N>& x, const N& beta,
                    const Strided<N>& y, Index begin, Index end) {
  if (!has_wide() || !is_whole(a) || is_zero_number(alpha)) return false;
  if (!form.transposed && !is_near(a)) return false;
  ChainsSideBySide<N, most_chains<N>> sums, chains;
  SideBySide<N, segment<N>> copied;
  const Index count = end - begin;
  bool is_first = true;
  for_cuts<N>(0, x.size, [&](Index from, Index to) {
    N* const chain = is_first ? sums.at : chains.at;
    std::fill(chain, chain + count, N{});
    const N* const near = copied.of(x, from, to - from);
    if (form.transposed)
      add_turned(walk_from(a, from, begin), to - from, count, near, form.conjugated, false, chain);
    else
      add_walk(walk_from(a, begin, from), count, to - from, near, form.conjugated, chain);
    auto* const sum = parts_of(sums.at);
    const auto* const part = parts_of(chains.at);
    if (!is_first)
      for (Index i = 0; i < count * Parts<N>::count; ++i) sum[i] += part[i];
    is_first = false;
  });
  end_sums(sums.at, alpha, beta, y.from(begin, count));
  return true;
}

template <class N>
N conjugate_if(bool conjugated, const N& x) {
  if constexpr (has_two_parts<N>)
    return conjugated ? conjugate(x) : x;
  else
    return x;
}
template <class N>
N on_diagonal(OnDiagonal diagonal, const N& stored) {
  if constexpr (has_two_parts<N>)
    return diagonal == OnDiagonal::One ? N{1, 0} : diagonal == OnDiagonal::Real ? N{stored.re, 0} : stored;
  else
    return diagonal == OnDiagonal::One ? N{1} : stored;
}

/// The block's elements become their conjugates, if they are to.
template <class N>
void conjugate_block(bool conjugated, Index count, Block<N>& block) {
  if constexpr (has_two_parts<N>)
    if (conjugated)
      for (Index c = 0; c < count; ++c)
        for (Index r = 0; r < count; ++r) block.column[c][r].im = -block.column[c][r].im;
}

/// The whole square of a symmetric matrix of which a triangle is stored. What stands in the other one is moved, but not
/// used.
template <class N>
void fill_square(const Symmetric<N>& a, Index begin, Index count, Block<N>& block) {
  turn_block(walk_from(a.stored, begin, begin), count, count, block);
  conjugate_block(a.is_conjugated != a.is_hermitian, count, block);
  const bool upper = a.half == Half::Upper;
  if (!a.is_conjugated) {
    put_in_block(walk_from(a.stored, begin, begin), count, upper, block);
  } else {
    for (Index c = 0; c < count; ++c) {
      const N* const column = a.stored.column(begin + c) + begin;
      for (Index r = upper ? 0 : c; r < (upper ? c + 1 : count); ++r)
        block.column[c][r] = conjugate_if(true, column[r]);
    }
  }
  if (a.stored.diagonal == OnDiagonal::Real)
    for (Index c = 0; c < count; ++c) block.column[c][c] = on_diagonal(OnDiagonal::Real, block.column[c][c]);
}

template <class N>
bool multiply_symmetric(const Symmetric<N>& a, const N& alpha, const Strided<const N>& x, const N& beta,
                        const Strided<N>& y) {
  const Index n = x.size;
  if (!has_wide() || !is_whole_triangle(a.stored) || n > segment<N> || is_zero_number(alpha)) return false;
  constexpr Index strip = 256; // rows whose elements are read a second time while they are near
  SideBySide<N, segment<N>> copied;
  const N* const near = copied.of(x, 0, n);
  ChainsSideBySide<N, segment<N>> chain;
  std::fill(chain.at, chain.at + n, N{});
  const bool mirrored_conj = a.is_conjugated != a.is_hermitian;
  Block<N> block;
  for (Index c0 = 0; c0 < n; c0 += tile_size<N>) {
    const Index count = std::min(tile_size<N>, n - c0), c1 = c0 + count;
    const auto both = [&](Index first, Index end) {
      // Terms of the columns first: their chains are registers' then, which the rows' chains do not wait for.
      for (Index i = first; i < end; i += strip) {
        const Index rows = std::min(strip, end - i);
        const Walk<N> columns = walk_from(a.stored, i, c0);
        alignas(32) N turned[tile_size<N> + wide_numbers<N>];
        std::copy(chain.at + c0, chain.at + c1, turned);
        add_turned(columns, rows, count, near + i, mirrored_conj, false, turned);
        std::copy(turned, turned + count, chain.at + c0);
        add_walk(columns, rows, count, near + c0, a.is_conjugated, chain.at + i);
      }
    };
    if (a.half == Half::Upper) both(0, c0);
    fill_square(a, c0, count, block);
    alignas(32) N square[tile_size<N> + wide_numbers<N>];
    std::copy(chain.at + c0, chain.at + c1, square);
    add_walk(Walk<N>{block.column[0], tile_size<N>, 0}, count, count, near + c0, false, square);
    std::copy(square, square + count, chain.at + c0);
    if (a.half == Half::Lower) both(c1, n);
  }
  end_sums(chain.at, alpha, beta, y);
  return true;
}

template <class N>
bool triangle_is_taken(const Columns<const N>& t, Form form, const Strided<N>& x) {
  if (!has_wide() || !is_whole_triangle(t) || x.size > segment<N>) return false;
  return form.transposed || is_near(t);
}

/// The triangle op(T) of the block's rows and columns from i0 on. What stands in the other one is not used.
template <class N>
void fill_triangle(const Columns<const N>& t, Form form, Index i0, Index count, Block<N>& block) {
  if (form.transposed)
    turn_block(walk_from(t, i0, i0), count, count, block);
  else
    for (Index c = 0; c < count; ++c) std::copy_n(t.column(i0 + c) + i0, count, block.column[c]);
  conjugate_block(form.conjugated, count, block);
  if (t.diagonal == OnDiagonal::One)
    for (Index c = 0; c < count; ++c) block.column[c][c] = on_diagonal(OnDiagonal::One, N{});
}

template <class N>
struct WrittenSideBySide {
  WrittenSideBySide(const Strided<N>& vector) : x(vector), near(x.is_contiguous() ? x.first : copy) {
    if (!x.is_contiguous())
      for (Index i = 0; i < x.size; ++i) copy[i] = x[i];
  }
  ~WrittenSideBySide() {
    if (!x.is_contiguous())
      for (Index i = 0; i < x.size; ++i) x[i] = copy[i];
  }
  const Strided<N>& x;
  N* const near;
  N copy[segment<N>];
};

template <class N>
bool multiply_triangular(const Columns<const N>& t, Half half, Form form, const Strided<N>& vector) {
  if (!triangle_is_taken(t, form, vector)) return false;
  const Index n = vector.size;
  const bool lower = (half == Half::Lower) != form.transposed;
  const WrittenSideBySide<N> copied(vector);
  N* const x = copied.near;
  Block<N> block;
  const Index blocks = (n + tile_size<N> - 1) / tile_size<N>;
  for (Index b = 0; b < blocks; ++b) { // a block is overwritten after the blocks that read it
    const Index i0 = (lower ? blocks - 1 - b : b) * tile_size<N>, i1 = std::min(n, i0 + tile_size<N>), count = i1 - i0;
    alignas(32) N chain[tile_size<N> + wide_numbers<N>];
    std::fill(chain, chain + tile_size<N>, N{});
    const auto rectangle = [&](Index first, Index end) {
      if (first == end) return;
      if (form.transposed)
        add_turned(walk_from(t, first, i0), end - first, count, x + first, form.conjugated, false, chain);
      else
        add_walk(walk_from(t, i0, first), count, end - first, x + first, form.conjugated, chain);
    };
    if (lower) rectangle(0, i0);
    fill_triangle(t, form, i0, count, block);
    add_block(block, count, lower, x + i0, false, chain);
    if (!lower) rectangle(i1, n);
    for (Index i = 0; i < count; ++i) x[i0 + i] = chain[i];
  }
  return true;
}

/// The triangle of a block, whose equations and unknowns are counted as they are found.
template <class N>
void fill_unknowns(const Columns<const N>& t, Form form, bool forwards, Index i0, Index count, Block<N>& block) {
  const Index by = forwards ? 1 : -1;
  for (Index c = 0; c < count; ++c) { // unknown c, or equation c where the matrix is transposed
    const Index place = forwards ? c : count - 1 - c;
    const N* const diagonal = t.column(i0 + place) + i0 + place;
    block.column[c][c] = conjugate_if(form.conjugated, *diagonal);
    if (form.transposed)
      for (Index q = 0; q < c; ++q) block.column[q][c] = conjugate_if(form.conjugated, diagonal[(q - c) * by]);
    else
      for (Index p = c + 1; p < count; ++p) block.column[c][p] = conjugate_if(form.conjugated, diagonal[(p - c) * by]);
  }
}

/// Solves a block whose unknowns are found in order: chain[p] is what has been summed up for unknown p.
template <class R>
TESSERA_WIDE_ENTRY void solve_block(const Block<R>& block, Index count, bool is_unit, R* chain, R* x) {
  constexpr int few = 4;
  for (Index q = 0; q < count; q += few) {
    R s[few], found[few];
#pragma GCC unroll 4
    for (int p = 0; p < few; ++p) s[p] = chain[q + p];
#pragma GCC unroll 4
    for (int p = 0; p < few; ++p) {
      if (q + p >= count) return;
      found[p] = x[q + p] - s[p];
      if (!is_unit) found[p] /= block.column[q + p][q + p];
      x[q + p] = found[p];
#pragma GCC unroll 4
      for (int r = p + 1; r < few; ++r) s[r] = std::fma(block.column[q + p][q + r], found[p], s[r]);
    }
    for (Index v = (q + few) / wide_numbers<R> * wide_numbers<R>; v < tile_size<R>; v += wide_numbers<R>) {
      WideOf<R> sum = load(chain + v);
#pragma GCC unroll 4
      for (int p = 0; p < few; ++p) sum = fused(load(&block.column[q + p][v]), spread(found[p]), sum);
      store(chain + v, sum);
    }
  }
}
template <class R>
TESSERA_WIDE_ENTRY void solve_block(const Block<ComplexNumber<R>>& block, Index count, bool is_unit,
                                    ComplexNumber<R>* chain, ComplexNumber<R>* x) {
  using N = ComplexNumber<R>;
  for (Index q = 0; q < count; ++q) {
    x[q] = less(x[q], chain[q]);
    if (!is_unit) x[q] = divided(x[q], block.column[q][q]);
    const Times<N> by = times(x[q], false);
    for (Index v = (q + 1) / wide_numbers<N> * wide_numbers<N>; v < count; v += wide_numbers<N>)
      store(parts_of(chain + v), step(by, load(parts_of(&block.column[q][v])), load(parts_of(chain + v))));
  }
}

template <class N>
bool solve_triangular(const Columns<const N>& t, Half half, Form form, const Strided<N>& vector) {
  if (!triangle_is_taken(t, form, vector)) return false;
  const Index n = vector.size;
  const bool forwards = (half == Half::Lower) != form.transposed;
  const WrittenSideBySide<N> copied(vector);
  N* const x = copied.near;
  N in_order[segment<N>];
  N* const found = forwards ? x : in_order; // in the order in which they are found
  Block<N> block{};
  for (Index done = 0; done < n; done += tile_size<N>) {
    const Index count = std::min(tile_size<N>, n - done);
    const Index i0 = forwards ? done : n - done - count, i1 = i0 + count;
    alignas(32) N chain[tile_size<N> + wide_numbers<N>];
    std::fill(chain, chain + tile_size<N>, N{});
    if (done > 0) {
      const Index first = forwards ? 0 : i1;
      if (form.transposed)
        add_turned(walk_from(t, first, i0), done, count, x + first, form.conjugated, !forwards, chain);
      else
        add_walk(forwards ? walk_from(t, i0, 0) : walk_back(t, i0, n - 1), count, done, found, form.conjugated, chain);
    }
    fill_unknowns(t, form, forwards, i0, count, block);
    N* const unknown = found + done;
    if (!forwards) {
      std::reverse(chain, chain + count);
      std::reverse_copy(x + i0, x + i1, unknown);
    }
    solve_block(block, count, t.diagonal == OnDiagonal::One, chain, unknown);
    if (!forwards) std::reverse_copy(unknown, unknown + count, x + i0);
  }
  return true;
}

} // namespace
#endif

#if TESSERA_HAS_WIDE
#define TESSERA_TAKEN(call) return call;
#else
#define TESSERA_TAKEN(call) return false;
#endif
#define TESSERA_DENSE_PRODUCTS(N)                                                                           \
  bool multiply_dense([[maybe_unused]] const Columns<const N>& a, [[maybe_unused]] Form form,               \
                      [[maybe_unused]] const N& alpha, [[maybe_unused]] const Strided<const N>& x,          \
                      [[maybe_unused]] const N& beta, [[maybe_unused]] const Strided<N>& y,                 \
                      [[maybe_unused]] Index begin, [[maybe_unused]] Index end) noexcept {                  \
    TESSERA_TAKEN(multiply_strip(a, form, alpha, x, beta, y, begin, end))                                   \
  }                                                                                                         \
  bool multiply_dense([[maybe_unused]] const Symmetric<N>& a, [[maybe_unused]] const N& alpha,              \
                      [[maybe_unused]] const Strided<const N>& x, [[maybe_unused]] const N& beta,           \
                      [[maybe_unused]] const Strided<N>& y) noexcept {                                      \
    TESSERA_TAKEN(multiply_symmetric(a, alpha, x, beta, y))                                                 \
  }                                                                                                         \
  bool multiply_dense_triangle([[maybe_unused]] const Columns<const N>& t, [[maybe_unused]] Half half,      \
                               [[maybe_unused]] Form form, [[maybe_unused]] const Strided<N>& x) noexcept { \
    TESSERA_TAKEN(multiply_triangular(t, half, form, x))                                                    \
  }                                                                                                         \
  bool solve_dense_triangle([[maybe_unused]] const Columns<const N>& t, [[maybe_unused]] Half half,         \
                            [[maybe_unused]] Form form, [[maybe_unused]] const Strided<N>& x) noexcept {    \
    TESSERA_TAKEN(solve_triangular(t, half, form, x))                                                       \
  }
TESSERA_DENSE_PRODUCTS(float)
TESSERA_DENSE_PRODUCTS(double)
TESSERA_DENSE_PRODUCTS(ComplexNumber<float>)
TESSERA_DENSE_PRODUCTS(ComplexNumber<double>)
#undef TESSERA_DENSE_PRODUCTS
#undef TESSERA_TAKEN
} // namespace tessera::vectors
