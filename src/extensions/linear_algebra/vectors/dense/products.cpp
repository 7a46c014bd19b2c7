#include "products.hpp"

#include <cmath>

#include "dense.hpp"
#include "extensions/linear_algebra/vectors/division.hpp"
#include "extensions/linear_algebra/vectors/groups.hpp"

namespace tessera::vectors {

#if TESSERA_HAS_WIDE
namespace {

/// Chains side by side, with room for two vectors after the last one.
template <class N, Index most>
struct ChainsSideBySide {
  alignas(32) N at[most + 2 * wide_numbers<N>];
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
void add_rows_of(const Columns<const N>& a, const Walk<N>& walk, Index rows, Index count, const N* x, bool conjugated,
                 N* chain) {
  if constexpr (has_two_parts<N>)
    if (!is_near(a)) return add_swept(walk, rows, count, x, conjugated, chain);
  add_walk(walk, rows, count, x, conjugated, chain);
}

/// The sums of segments are added up in sums(0 … count − 1). add(from, to, chain) continues chains by a segment's
/// terms.
template <class N, class Add>
void sum_up(Index terms, Index count, N* sums, N* chains, const Add& add) {
  for_cuts<N>(0, terms, [&](Index from, Index to) {
    N* const chain = from == 0 ? sums : chains;
    std::fill(chain, chain + count, N{});
    add(from, to, chain);
    if (from == 0) return;
    auto* const sum = parts_of(sums);
    const auto* const part = parts_of(chains);
    for (Index i = 0; i < count * Parts<N>::count; ++i) sum[i] += part[i];
  });
}

template <class N>
bool multiply_strip(const Columns<const N>& a, Form form, const N& alpha, const Strided<const N>& x, const N& beta,
                    const Strided<N>& y, Index begin, Index end) {
  if (!has_wide() || !is_whole(a) || is_zero_number(alpha)) return false;
  if (!has_two_parts<N> && !form.transposed && !is_near(a)) return false;
  ChainsSideBySide<N, most_chains<N>> sums, chains;
  SideBySide<N, segment<N>> copied;
  // From memory, few columns at a time are read from their first to their last row.
  const Index count = end - begin, at_once = !form.transposed || is_near(a) ? count : most_turned;
  for (Index first = begin; first < end; first += at_once) {
    const Index some = std::min(at_once, end - first);
    sum_up(x.size, some, sums.at + (first - begin), chains.at, [&](Index from, Index to, N* chain) {
      const N* const near = copied.of(x, from, to - from);
      if (form.transposed)
        add_turned(walk_from(a, from, first), to - from, some, near, form.conjugated, false, chain);
      else
        add_rows_of(a, walk_from(a, first, from), some, to - from, near, form.conjugated, chain);
    });
  }
  end_sums(sums.at, alpha, beta, y.from(begin, count));
  return true;
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
  const Mirror mirror{.upper = a.half == Half::Upper,
                      .conjugates_stored = a.is_conjugated,
                      .conjugates_mirrored = a.is_conjugated != a.is_hermitian,
                      .real_diagonal = a.stored.diagonal == OnDiagonal::Real};
  for (Index c0 = 0; c0 < n; c0 += tile_size<N>) {
    const Index count = std::min(tile_size<N>, n - c0), c1 = c0 + count;
    const auto both = [&](Index first, Index end) {
      // Terms of the columns first: their chains are registers' then, which the rows' chains do not wait for.
      for (Index i = first; i < end; i += strip) {
        const Index rows = std::min(strip, end - i);
        const Walk<N> columns = walk_from(a.stored, i, c0);
        alignas(32) N turned[tile_size<N> + wide_numbers<N>];
        std::copy(chain.at + c0, chain.at + c1, turned);
        add_turned(columns, rows, count, near + i, mirror.conjugates_mirrored, false, turned);
        std::copy(turned, turned + count, chain.at + c0);
        add_walk(columns, rows, count, near + c0, a.is_conjugated, chain.at + i);
      }
    };
    if (a.half == Half::Upper) both(0, c0);
    alignas(32) N square[tile_size<N>];
    std::copy(chain.at + c0, chain.at + c1, square);
    add_square(walk_from(a.stored, c0, c0), mirror, count, near + c0, square);
    std::copy(square, square + count, chain.at + c0);
    if (a.half == Half::Lower) both(c1, n);
  }
  end_sums(chain.at, alpha, beta, y);
  return true;
}

template <class N>
N plus(const N& x, const N& y) {
  if constexpr (has_two_parts<N>)
    return {x.re + y.re, x.im + y.im};
  else
    return x + y;
}

template <class N>
bool triangle_is_taken(const Columns<const N>& t, Form form, const Strided<N>& x) {
  if (!has_wide() || !is_whole_triangle(t) || (x.size > segment<N> && !x.is_contiguous())) return false;
  return form.transposed || is_near(t);
}

/// The triangle op(T) of the rows and columns from i0 on: where it is stored, or in the block. What stands in the other
/// one is not used.
template <class N>
Walk<N> triangle_of(const Columns<const N>& t, Form form, bool lower, bool has_ones, Index i0, Index count,
                    Block<N>& block) {
  const Walk<N> stored = walk_from(t, i0, i0);
  if (!form.transposed && !form.conjugated && !has_ones && count == tile_size<N>) return stored;
  if (form.transposed)
    turn_block(stored, count, lower, form.conjugated, block);
  else
    copy_block(stored, count, form.conjugated, block);
  for (Index c = 0; has_ones && c < count; ++c) *parts_of(&(block.column[c][c] = N{})) = 1;
  return {block.column[0], tile_size<N>, 0};
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
    alignas(32) N chain[tile_size<N> + wide_numbers<N>], sum[tile_size<N>];
    std::fill(chain, chain + tile_size<N>, N{});
    bool has_sum = false;
    const auto end_segment = [&] {
      for (Index i = 0; i < count; ++i) sum[i] = has_sum ? plus(sum[i], chain[i]) : chain[i];
      std::fill(chain, chain + tile_size<N>, N{});
      has_sum = true;
    };
    const auto rectangle = [&](Index begin, Index stop) {
      for_cuts<N>(begin, stop, [&](Index first, Index end) {
        if (form.transposed)
          add_turned(walk_from(t, first, i0), end - first, count, x + first, form.conjugated, false, chain);
        else
          add_walk(walk_from(t, i0, first), count, end - first, x + first, form.conjugated, chain);
        if (end % segment<N> == 0) end_segment();
      });
    };
    if (lower) rectangle(0, i0);
    add_block(triangle_of(t, form, lower, t.diagonal == OnDiagonal::One, i0, count, block), count, lower, x + i0,
              chain);
    if (!lower && i1 % segment<N> == 0 && i1 < n) end_segment();
    if (!lower && i1 < n) rectangle(i1, n);
    const bool ends_with_segment = !lower && i1 < n && n % segment<N> == 0; // whose chain is in the sum already
    for (Index i = 0; i < count; ++i)
      x[i0 + i] = ends_with_segment ? sum[i] : has_sum ? plus(sum[i], chain[i]) : chain[i];
  }
  return true;
}

template <class N>
bool solve_triangular(const Columns<const N>& t, Half half, Form form, const Strided<N>& vector) {
  if (!triangle_is_taken(t, form, vector)) return false;
  const Index n = vector.size;
  const bool forwards = (half == Half::Lower) != form.transposed;
  const WrittenSideBySide<N> copied(vector);
  N* const x = copied.near;
  N in_order[segment<N>]; // unknowns in the order in which they are found, if that is not the vector's
  const N* const found = forwards ? x : in_order;
  Block<N> block{};
  for (Index done = 0; done < n; done += tile_size<N>) {
    const Index count = std::min(tile_size<N>, n - done);
    const Index i0 = forwards ? done : n - done - count, i1 = i0 + count;
    alignas(32) N chain[tile_size<N> + wide_numbers<N>];
    std::fill(chain, chain + tile_size<N>, N{});
    if (done > 0 && !form.transposed)
      add_walk(forwards ? walk_from(t, i0, 0) : walk_back(t, i0, n - 1), count, done, found, form.conjugated, chain);
    for_cuts<N>(0, form.transposed ? done : 0, [&](Index from, Index to) { // of unknowns as they were found
      const Index first = forwards ? from : n - to;
      add_turned(walk_from(t, first, i0), to - from, count, x + first, form.conjugated, !forwards, chain);
      if (to % segment<N> != 0) return;
      for (Index i = 0; i < count; ++i) x[i0 + i] = less(x[i0 + i], chain[i]);
      std::fill(chain, chain + tile_size<N>, N{});
    });
    find_unknowns(triangle_of(t, form, forwards, false, i0, count, block), count, forwards,
                  t.diagonal == OnDiagonal::One, chain, x + i0);
    if (!forwards && !form.transposed) std::reverse_copy(x + i0, x + i1, in_order + done);
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
