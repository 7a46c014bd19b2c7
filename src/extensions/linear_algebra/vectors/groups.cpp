#include "groups.hpp"

#include <cmath>

#include "division.hpp"
#include "near_far.hpp"
#include "tiles.hpp"

namespace tessera::vectors {
namespace {

/// Adds a·x to a chain: the contract's real and complex steps.
template <class R>
[[gnu::always_inline]] inline void step(R& chain, R a, R x) {
  chain = std::fma(a, x, chain);
}
template <class R>
[[gnu::always_inline]] inline void step(R& re, R& im, R a_re, R a_im, R x_re, R x_im) {
  re = std::fma(a_im, -x_im, std::fma(a_re, x_re, re));
  im = std::fma(a_im, x_re, std::fma(a_re, x_im, im));
}

/// The rows in which all columns of a group have an element that is stored as it is, and the rows that any has.
struct Rows {
  Index first, end, any_first, any_end;
};
template <class N>
[[gnu::always_inline]] inline Rows common_rows(const Group<N>& group, Index r0, Index r1) {
  Rows rows{std::max(r0, group.last_first), std::min(r1, group.first_end), std::max(r0, group.first),
            std::min(r1, group.end)};
  if (group.diagonal != OnDiagonal::Stored) {
    const Index one = group.number[0], other = group.number[group.count - 1];
    const Index first = std::min(one, other), end = std::max(one, other) + 1;
    if (rows.first < first)
      rows.end = std::min(rows.end, first);
    else
      rows.first = std::max(rows.first, end);
  }
  if (rows.first >= rows.end) rows.first = rows.end = rows.any_end = std::max(rows.any_first, rows.any_end);
  return rows;
}

/// Returns element (i, column q) with its sign of im, where the column has it.
template <class R>
[[gnu::always_inline]] inline R element(const Group<R>& group, int q, Index i) {
  return i == group.number[q] && group.diagonal == OnDiagonal::One ? R{1} : group.column[q][i];
}
template <class R>
[[gnu::always_inline]] inline ComplexNumber<R> element(const Group<ComplexNumber<R>>& group, int q, Index i) {
  const bool special = i == group.number[q] && group.diagonal != OnDiagonal::Stored;
  if (special && group.diagonal == OnDiagonal::One) return {1, 0};
  const ComplexNumber<R> x = group.column[q][i];
  if (special) return {x.re, 0};
  return group.conjugated ? conjugate(x) : x;
}

template <class R>
[[gnu::always_inline]] inline void step_at(Chains<R>& chains, Index place, R a, R x) {
  step(chains.part[0][place], a, x);
}
template <class R>
[[gnu::always_inline]] inline void step_at(Chains<ComplexNumber<R>>& chains, Index place, const ComplexNumber<R>& a,
                                           const ComplexNumber<R>& x) {
  step(chains.part[0][place], chains.part[1][place], a.re, a.im, x.re, x.im);
}

/// Columns q … q + C − 1 in the rows i0 … i1 − 1, which all of them have.
template <int C, class R>
[[gnu::always_inline]] inline void whole_columns(const Group<R>& group, int q, const R* x, Index i0, Index i1,
                                                 Index base, Chains<R>& chains) {
  const R* column[C];
  R factor[C];
  for (int c = 0; c < C; ++c) {
    column[c] = group.column[q + c] + i0;
    factor[c] = x[q + c];
  }
  R* __restrict const chain = chains.part[0] + (i0 - base);
  for (Index i = 0; i < i1 - i0; ++i) {
    R sum = chain[i];
    for (int c = 0; c < C; ++c) step(sum, column[c][i], factor[c]);
    chain[i] = sum;
  }
}
template <int C, class R>
[[gnu::always_inline]] inline void whole_columns(const Group<ComplexNumber<R>>& group, int q, const ComplexNumber<R>* x,
                                                 Index i0, Index i1, Index base, Chains<ComplexNumber<R>>& chains) {
  const ComplexNumber<R>* first_rows[C];
  const R* column[C];
  R re_re[C], im_re[C], re_im[C], im_im[C]; // what re and im of an element add to the parts of the chain
  const R sign = group.conjugated ? R{-1} : R{1};
  for (int c = 0; c < C; ++c) {
    first_rows[c] = group.column[q + c] + i0;
    column[c] = parts_of(first_rows[c]);
    re_re[c] = x[q + c].re;
    im_re[c] = -sign * x[q + c].im;
    re_im[c] = x[q + c].im;
    im_im[c] = sign * x[q + c].re;
  }
  R* __restrict const re = chains.part[0] + (i0 - base);
  R* __restrict const im = chains.part[1] + (i0 - base);
  Index begin = 0;
#if TESSERA_HAS_WIDE
  if constexpr (C == few_at_once)
    if (takes_wide((i1 - i0) * static_cast<Index>(sizeof(ComplexNumber<R>))))
      begin = add_few(first_rows, i1 - i0, x + q, group.conjugated, re, im);
#endif
  for (Index i = begin; i < i1 - i0; ++i) {
    R sum_re = re[i], sum_im = im[i];
    for (int c = 0; c < C; ++c) {
      const R a_re = column[c][2 * i], a_im = column[c][2 * i + 1];
      sum_re = std::fma(a_im, im_re[c], std::fma(a_re, re_re[c], sum_re));
      sum_im = std::fma(a_im, im_im[c], std::fma(a_re, re_im[c], sum_im));
    }
    re[i] = sum_re;
    im[i] = sum_im;
  }
}

template <class N>
[[gnu::always_inline]] inline void columns_of(const Group<N>& group, const N* x, Index r0, Index r1, Index base,
                                              Chains<N>& chains) {
  const Rows rows = common_rows(group, r0, r1);
  const auto ragged = [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      for (int q = group.begin_with(i); q < group.end_with(i); ++q)
        step_at(chains, i - base, element(group, q, i), x[q]);
  };
  ragged(rows.any_first, rows.first);
  int q = 0;
  if (rows.first < rows.end) {
    if constexpr (!has_two_parts<N>)
      for (; q + 8 <= group.count; q += 8) whole_columns<8>(group, q, x, rows.first, rows.end, base, chains);
    for (; q + 4 <= group.count; q += 4) whole_columns<4>(group, q, x, rows.first, rows.end, base, chains);
    for (; q < group.count; ++q) whole_columns<1>(group, q, x, rows.first, rows.end, base, chains);
  }
  ragged(rows.end, rows.any_end);
}

/// Rows i0 … i1 − 1 of columns q … q + C − 1, which all of them have. The chains are independent, so that they hide
/// each other's latency.
template <int C, class R>
[[gnu::always_inline]] inline void whole_rows(const Group<R>& group, int q, const R* x, Index i0, Index i1, Index r0,
                                              bool descending, Index k0, Chains<R>& chains) {
  const R* column[C];
  R sum[C];
  for (int c = 0; c < C; ++c) {
    column[c] = group.column[q + c];
    sum[c] = chains.part[0][group.number[q + c] - k0];
  }
  x -= r0;
  if (descending)
    for (Index i = i1 - 1; i >= i0; --i)
      for (int c = 0; c < C; ++c) step(sum[c], column[c][i], x[i]);
  else
    for (Index i = i0; i < i1; ++i)
      for (int c = 0; c < C; ++c) step(sum[c], column[c][i], x[i]);
  for (int c = 0; c < C; ++c) chains.part[0][group.number[q + c] - k0] = sum[c];
}
template <int C, class R>
[[gnu::always_inline]] inline void whole_rows(const Group<ComplexNumber<R>>& group, int q, const ComplexNumber<R>* x,
                                              Index i0, Index i1, Index r0, bool descending, Index k0,
                                              Chains<ComplexNumber<R>>& chains) {
  const ComplexNumber<R>* column[C];
  R re[C], im[C];
  for (int c = 0; c < C; ++c) {
    column[c] = group.column[q + c];
    re[c] = chains.part[0][group.number[q + c] - k0];
    im[c] = chains.part[1][group.number[q + c] - k0];
  }
  x -= r0;
  const R sign = group.conjugated ? R{-1} : R{1};
  const Index by = descending ? -1 : 1;
  for (Index i = descending ? i1 - 1 : i0, left = i1 - i0; left > 0; --left, i += by)
    for (int c = 0; c < C; ++c) step(re[c], im[c], column[c][i].re, sign * column[c][i].im, x[i].re, x[i].im);
  for (int c = 0; c < C; ++c) {
    chains.part[0][group.number[q + c] - k0] = re[c];
    chains.part[1][group.number[q + c] - k0] = im[c];
  }
}

template <class N>
[[gnu::always_inline]] inline void rows_of(const Group<N>& group, const N* x, Index r0, Index r1, bool descending,
                                           Index k0, Chains<N>& chains) {
  const Rows rows = common_rows(group, r0, r1);
  const auto ragged = [&](Index begin, Index end) {
    for (Index n = 0; n < end - begin; ++n) { // row by row: the chains do not wait for each other
      const Index i = descending ? end - 1 - n : begin + n;
      for (int q = group.begin_with(i); q < group.end_with(i); ++q)
        step_at(chains, group.number[q] - k0, element(group, q, i), x[i - r0]);
    }
  };
  if (descending)
    ragged(rows.end, rows.any_end);
  else
    ragged(rows.any_first, rows.first);
  constexpr Index worth_a_tile = 8;
  const Index first = rows.first, end = rows.end;
  if (end - first >= worth_a_tile && group.count >= worth_a_tile && has_wide()) {
    add_tile(group, x, first, end, r0, descending, k0, chains);
  } else if (first < end) {
    int q = 0;
    if constexpr (!has_two_parts<N>)
      for (; q + 8 <= group.count; q += 8) whole_rows<8>(group, q, x, first, end, r0, descending, k0, chains);
    for (; q + 4 <= group.count; q += 4) whole_rows<4>(group, q, x, first, end, r0, descending, k0, chains);
    for (; q < group.count; ++q) whole_rows<1>(group, q, x, first, end, r0, descending, k0, chains);
  }
  if (descending)
    ragged(rows.any_first, rows.first);
  else
    ragged(rows.end, rows.any_end);
}

/// Continues `count` chains by column c of a square, for c ascending.
template <int most, class R>
[[gnu::always_inline]] inline void add_whole_square(int count, const R (&square)[most][most], const R* x,
                                                    R* __restrict chain) {
  for (int c = 0; c < count; ++c)
    for (int r = 0; r < most; ++r) chain[r] = std::fma(square[c][r], x[c], chain[r]);
}
template <int most, class R>
[[gnu::always_inline]] inline void add_whole_square(int count, const ComplexNumber<R> (&square)[most][most],
                                                    const ComplexNumber<R>* x, R* __restrict re, R* __restrict im) {
  for (int c = 0; c < count; ++c)
    for (int r = 0; r < most; ++r) step(re[r], im[r], square[c][r].re, square[c][r].im, x[c].re, x[c].im);
}

/// Every element of the square is written to memory first, so that chains go on side by side. Chains after the last
/// row are continued in vain, in a copy.
template <class N>
[[gnu::always_inline]] inline void square_of(const Group<N>& group, bool upper, bool hermitian, const N* x, Index base,
                                             Chains<N>& chains) {
  constexpr int most = Group<N>::most, parts = Parts<N>::count;
  const Index first = group.number[0], place = first - base;
  const auto mirror = [&](const N& a) {
    if constexpr (has_two_parts<N>) return hermitian ? conjugate(a) : a;
    if constexpr (!has_two_parts<N>) return a;
  };
  if (group.below + group.above < group.count - 1) { // a narrow band
    for (int c = 0; c < group.count; ++c)
      for (int r = 0; r < group.count; ++r) {
        const int q = upper == (r > c) && r != c ? r : c, row = q == c ? r : c;
        if (q < group.begin_with(first + row) || q >= group.end_with(first + row)) continue;
        const N a = element(group, q, first + row);
        step_at(chains, place + r, q == c ? a : mirror(a), x[place + c]);
      }
    return;
  }
  N square[most][most] = {};
  for (int c = 0; c < group.count; ++c)
    for (int r = upper ? 0 : c; r < (upper ? c + 1 : group.count); ++r) {
      const N a = element(group, c, first + r);
      square[c][r] = a;
      if (r != c) square[r][c] = mirror(a);
    }
  RealOf<N> chain[parts][most] = {};
  for (int p = 0; p < parts; ++p) std::copy(chains.part[p] + place, chains.part[p] + place + group.count, chain[p]);
  if constexpr (has_two_parts<N>)
    add_whole_square(group.count, square, x + place, chain[0], chain[1]);
  else
    add_whole_square(group.count, square, x + place, chain[0]);
  for (int p = 0; p < parts; ++p) std::copy(chain[p], chain[p] + group.count, chains.part[p] + place);
}

template <class N>
[[gnu::always_inline]] inline void unknowns_of(const Group<N>& group, bool transposed, const Strided<N>& x, Index base,
                                               Chains<N>& chains) {
  for (int q = 0; q < group.count; ++q) {
    const Index k = group.number[q];
    N& unknown = x[k];
    unknown = less(unknown, chains.at(k - base));
    if (group.diagonal != OnDiagonal::One) unknown = divided(unknown, element(group, q, k));
    for (int p = q + 1; p < group.count; ++p) {
      const int column = transposed ? p : q;
      const Index later = group.number[p], row = transposed ? k : later;
      if (column >= group.begin_with(row) && column < group.end_with(row))
        step_at(chains, later - base, element(group, column, row), unknown);
    }
  }
}

template <class R>
[[gnu::always_inline]] inline R ended(R alpha, R s, bool has_terms, R beta, R y) {
  if (!has_terms) return beta == 0 ? R{0} : beta * y;
  const R r = alpha * s;
  return beta == 0 ? r : std::fma(beta, y, r);
}
template <class R>
[[gnu::always_inline]] inline ComplexNumber<R> ended(const ComplexNumber<R>& alpha, const ComplexNumber<R>& s,
                                                     bool has_terms, const ComplexNumber<R>& beta,
                                                     const ComplexNumber<R>& y) {
  const bool reads_y = beta.re != 0 || beta.im != 0;
  if (!has_terms) return reads_y ? scaled(beta, y) : ComplexNumber<R>{0, 0};
  const ComplexNumber<R> r = scaled(alpha, s);
  return reads_y ? added(beta, y, r) : r;
}
template <class N>
[[gnu::always_inline]] inline void end_all(const Chains<N>& s, bool has_terms, const N& alpha, const N& beta,
                                           const Strided<N>& y) {
  for (Index i = 0; i < y.size; ++i) y[i] = ended(alpha, s.at(i), has_terms, beta, y[i]);
}

} // namespace

#define TESSERA_GROUPS(N)                                                                                             \
  TESSERA_NEAR_AND_FAR(void, add_columns,                                                                             \
                       (const Group<N>& group, const N* x, Index r0, Index r1, Index base, Chains<N>& chains),        \
                       { columns_of(group, x, r0, r1, base, chains); })                                               \
  void add_columns(const Group<N>& group, const N* x, Index r0, Index r1, Index base, Chains<N>& chains) {            \
    group.far ? add_columns_far(group, x, r0, r1, base, chains) : add_columns_near(group, x, r0, r1, base, chains);   \
  }                                                                                                                   \
  TESSERA_WIDE_CLONES void add_rows(const Group<N>& group, const N* x, Index r0, Index r1, bool descending, Index k0, \
                                    Chains<N>& chains) {                                                              \
    rows_of(group, x, r0, r1, descending, k0, chains);                                                                \
  }                                                                                                                   \
  TESSERA_WIDE_CLONES void add_square(const Group<N>& group, bool upper, bool hermitian, const N* x, Index base,      \
                                      Chains<N>& chains) {                                                            \
    square_of(group, upper, hermitian, x, base, chains);                                                              \
  }                                                                                                                   \
  TESSERA_WIDE_CLONES void solve_group(const Group<N>& group, bool transposed, const Strided<N>& x, Index base,       \
                                       Chains<N>& chains) {                                                           \
    unknowns_of(group, transposed, x, base, chains);                                                                  \
  }
TESSERA_GROUPS(float)
TESSERA_GROUPS(double)
TESSERA_GROUPS(ComplexNumber<float>)
TESSERA_GROUPS(ComplexNumber<double>)
#undef TESSERA_GROUPS

#define TESSERA_FINISH(N, Factor)                                                                \
  TESSERA_WIDE_CLONES void finish(const Chains<N>& s, bool has_terms, Factor alpha, Factor beta, \
                                  const Strided<N>& y) {                                         \
    end_all(s, has_terms, alpha, beta, y);                                                       \
  }
TESSERA_FINISH(float, float)
TESSERA_FINISH(double, double)
TESSERA_FINISH(ComplexNumber<float>, const ComplexNumber<float>&)
TESSERA_FINISH(ComplexNumber<double>, const ComplexNumber<double>&)
#undef TESSERA_FINISH

} // namespace tessera::vectors
