#include "matrix_vector.hpp"

#include <tessera/detail/floating_point.hpp>

#include "bands.hpp"
#include "dense/products.hpp"
#include "extensions/linear_algebra/slow_loops.hpp"
#include "parts.hpp"
#include "strips.hpp"
#include "symmetric_sums.hpp"
#include "triangular_system.hpp"

namespace tessera::vectors {
namespace {

template <class N>
bool is_zero(const N& x) {
  if constexpr (has_two_parts<N>)
    return x.re == 0 && x.im == 0;
  else
    return x == 0;
}
template <class N>
N one() {
  if constexpr (has_two_parts<N>)
    return {1, 0};
  else
    return 1;
}

/// Elements begin … end − 1 of a product with a narrow band, at most most_chains, by its lines.
template <class N>
void multiply_lines(const Lines<N>& lines, const N& alpha, const Strided<const N>& x, const N& beta,
                    const Strided<N>& y, Index begin, Index end) {
  constexpr Index few = 64, most = most_chains<N>;
  SideBySide<N, most + 2 * few> copied;
  N line[most];
  const Index first = std::max<Index>(0, begin - lines.before), last = std::min(lines.terms, end + lines.after);
  const N* const near = copied.of(x, first, last - first);
  sum_lines(lines, near - first, begin, end, line);
  Chains<N> sums;
  for (int p = 0; p < Parts<N>::count; ++p)
    for (Index i = 0; i < end - begin; ++i) sums.part[p][i] = parts_of(line)[i * Parts<N>::count + p];
  finish(sums, true, alpha, beta, y.from(begin, end - begin));
}

/// Computes sums(begin − c) of a strip and ends its elements.
template <class N>
void multiply_part(const Columns<const N>& a, Form form, const N& alpha, const Strided<const N>& x, const N& beta,
                   const Strided<N>& y, Index begin, Index end) {
  if (multiply_dense(a, form, alpha, x, beta, y, begin, end)) return;
  const Index terms_end = form.transposed ? a.rows + a.above : a.cols + a.below; // beyond it, a band has no elements
  const Index with_terms = is_zero(alpha) ? begin : std::clamp(terms_end, begin, end);
  Chains<N> sums;
  // At the ends of a band lines have few terms, and are slow.
  const bool is_long = 2 * std::min(a.rows, a.cols) > 3 * (a.below + a.above);
  if (with_terms > begin && is_long && has_few_diagonals(a)) {
    multiply_lines(lines_of(a, form), alpha, x, beta, y, begin, with_terms);
  } else if (with_terms > begin) {
    if (form.transposed)
      sum_columns(a, form.conjugated, x, begin, with_terms, sums);
    else
      sum_rows(a, form.conjugated, x, begin, with_terms, sums);
    finish(sums, true, alpha, beta, y.from(begin, with_terms - begin));
  }
  if (with_terms < end) finish(sums, false, alpha, beta, y.from(with_terms, end - with_terms));
}

/// Calls strip(begin, end) for the strips of 0 … n − 1, in either direction.
template <class N, class Strip>
void for_strips(Index n, bool descending, const Strip& strip) {
  const Index count = (n + segment<N> - 1) / segment<N>;
  for (Index s = 0; s < count; ++s) {
    const Index begin = (descending ? count - 1 - s : s) * segment<N>;
    strip(begin, std::min(n, begin + segment<N>));
  }
}

/// Is row 0 of op(T) the one that has a term alone? Then unknowns are found from the first on.
bool is_lower(Half half, Form form) { return (half == Half::Lower) != form.transposed; }

} // namespace

template <class N>
void multiply(const Columns<const N>& a, Form form, const N& alpha, const Strided<const N>& x, const N& beta,
              const Strided<N>& y) noexcept {
  const detail::ContractArithmetic contract;
  constexpr Index least_rows = most_chains<N> / 4;
  const Index band = std::min(a.below + a.above + 1, form.transposed ? a.rows : a.cols);
  const Index bytes = is_zero(alpha) ? 0 : y.size * band * static_cast<Index>(sizeof(N));
  in_parts(bytes, y.size, least_rows, [&](Index first, Index last) {
    for (Index begin = first; begin < last; begin += most_chains<N>)
      multiply_part(a, form, alpha, x, beta, y, begin, std::min(last, begin + most_chains<N>));
  });
}

template <class N>
void multiply(const char* routine, const Symmetric<N>& a, const N& alpha, const Strided<const N>& x, const N& beta,
              const Strided<N>& y) noexcept {
  const detail::ContractArithmetic contract;
  if (multiply_dense(a, alpha, x, beta, y)) return;
  const bool has_terms = !is_zero(alpha);
  if (has_terms && has_few_diagonals(a.stored)) {
    for (Index begin = 0; begin < y.size; begin += most_chains<N>)
      multiply_lines(lines_of(a), alpha, x, beta, y, begin, std::min(y.size, begin + most_chains<N>));
    return;
  }
  SumsOfStrips<N> sums(has_terms ? (y.size + segment<N> - 1) / segment<N> : 1);
  SymmetricSums<N> work(a, x, sums);
  if (has_terms && sums.has_all()) work.add_all();
  if (!sums.has_all()) linear_algebra::say_slow_loops_go_on(routine);
  for_strips<N>(y.size, false, [&](Index begin, Index end) {
    const Index strip = has_terms ? begin / segment<N> : 0;
    sums.want(strip);
    if (has_terms && !sums.has_all()) work.add_all();
    finish(*sums.of(strip), has_terms, alpha, beta, y.from(begin, end - begin));
  });
}

template <class N>
void multiply_triangle(const Columns<const N>& t, Half half, Form form, const Strided<N>& x) noexcept {
  const detail::ContractArithmetic contract;
  if (multiply_dense_triangle(t, half, form, x)) return;
  // A strip is overwritten after the strips that read it.
  for_strips<N>(x.size, is_lower(half, form),
                [&](Index begin, Index end) { multiply_part(t, form, one<N>(), read_only(x), N{}, x, begin, end); });
}

template <class N>
void solve_triangle(const Columns<const N>& t, Half half, Form form, const Strided<N>& x) noexcept {
  const detail::ContractArithmetic contract;
  if (solve_dense_triangle(t, half, form, x)) return;
  if (has_few_diagonals(t)) return solve_lines(lines_of(t, form), is_lower(half, form), x);
  System<N>{t, form, !is_lower(half, form), x}.solve();
}

#define TESSERA_INSTANTIATE(N)                                                                                     \
  template TESSERA_API_INSTANCE void multiply(const Columns<const N>&, Form, const N&, const Strided<const N>&,    \
                                              const N&, const Strided<N>&) noexcept;                               \
  template TESSERA_API_INSTANCE void multiply(const char*, const Symmetric<N>&, const N&, const Strided<const N>&, \
                                              const N&, const Strided<N>&) noexcept;                               \
  template TESSERA_API_INSTANCE void multiply_triangle(const Columns<const N>&, Half, Form,                        \
                                                       const Strided<N>&) noexcept;                                \
  template TESSERA_API_INSTANCE void solve_triangle(const Columns<const N>&, Half, Form, const Strided<N>&) noexcept;
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(ComplexNumber<float>)
TESSERA_INSTANTIATE(ComplexNumber<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::vectors
