#include "bands.hpp"

#include <cmath>

#include "division.hpp"
#include "groups.hpp"

#if TESSERA_HAS_WIDE

namespace tessera::vectors {
namespace {

/// How many lines' chains hide each other's latency.
template <class N>
constexpr int lines_at_once = has_two_parts<N> ? 4 : 8;

template <class N>
TESSERA_WIDE_CODE N element_on_diagonal(const Lines<N>& lines, const N& stored) {
  N one{};
  *parts_of(&one) = 1;
  if (lines.on_diagonal == OnDiagonal::One) return one;
  if (lines.on_diagonal == OnDiagonal::Stored) return stored;
  N real{};
  *parts_of(&real) = *parts_of(&stored);
  return real;
}
template <class N>
TESSERA_WIDE_CODE void add_on_diagonal(const Lines<N>& lines, Index i, const N* x, N& chain) {
  const bool conjugated = lines.conjugates_diagonal && lines.on_diagonal == OnDiagonal::Stored;
  add_term(chain, element_on_diagonal(lines, lines.diagonal[i * lines.next]), x[i], conjugated);
}

/// `few` lines, which have all their terms, in one segment.
template <int few, class N>
TESSERA_WIDE_CODE void sum_few(const Lines<N>& lines, const N* x, Index i, N* sums) {
  N chain[few] = {};
  const N* const before = lines.first_before + i * lines.next;
  for (Index t = 0; t < lines.before; ++t)
#pragma GCC unroll 8
    for (int q = 0; q < few; ++q)
      add_term(chain[q], before[q * lines.next + t * lines.step_before], x[i + q - lines.before + t],
               lines.conjugates_before);
#pragma GCC unroll 8
  for (int q = 0; q < few; ++q) add_on_diagonal(lines, i + q, x, chain[q]);
  const N* const after = lines.first_after + i * lines.next;
  for (Index t = 0; t < lines.after; ++t)
#pragma GCC unroll 8
    for (int q = 0; q < few; ++q)
      add_term(chain[q], after[q * lines.next + t * lines.step_after], x[i + q + 1 + t], lines.conjugates_after);
#pragma GCC unroll 8
  for (int q = 0; q < few; ++q) sums[q] = chain[q];
}

template <class N>
TESSERA_WIDE_CODE N sum_one(const Lines<N>& lines, const N* x, Index i) {
  const Index first = std::max<Index>(0, i - lines.before), end = std::min(lines.terms, i + lines.after + 1);
  N sum{}, chain{};
  bool has_sum = false;
  const auto end_segment = [&] {
    auto* const to = parts_of(&sum);
    const auto* const from = parts_of(&chain);
    for (int p = 0; p < Parts<N>::count; ++p) to[p] = has_sum ? to[p] + from[p] : from[p];
    has_sum = true;
    chain = N{};
  };
  for (Index k = first; k < end; ++k) {
    if (k > first && k % segment<N> == 0) end_segment();
    if (k == i)
      add_on_diagonal(lines, i, x, chain);
    else if (k < i)
      add_term(chain, lines.first_before[i * lines.next + (k - i + lines.before) * lines.step_before], x[k],
               lines.conjugates_before);
    else
      add_term(chain, lines.first_after[i * lines.next + (k - i - 1) * lines.step_after], x[k], lines.conjugates_after);
  }
  end_segment();
  return sum;
}

template <class N>
TESSERA_WIDE_CODE void sum_all(const Lines<N>& given, const N* x, Index begin, Index end, N* sums) {
  constexpr int few = lines_at_once<N>;
  const Lines<N> lines = given;
  for (Index i = begin; i < end;) {
    const Index first = i - lines.before, last = i + few - 1 + lines.after;
    if (i + few <= end && first >= 0 && last < lines.terms && first / segment<N> == last / segment<N>) {
      sum_few<few>(lines, x, i, sums + (i - begin));
      i += few;
    } else {
      sums[i - begin] = sum_one(lines, x, i);
      ++i;
    }
  }
}

/// Unknowns are counted as they are found, and segments too. The chain of an unknown waits for the unknown before it
/// alone.
template <bool forwards, class N>
TESSERA_WIDE_CODE void solve_all(const Lines<N>& given, const Strided<N>& vector) {
  const Lines<N> lines = given;
  const Strided<N> x = vector;
  const Index n = lines.terms, width = forwards ? lines.before : lines.after;
  const bool is_unit = lines.on_diagonal == OnDiagonal::One;
  for (Index u = 0; u < n; ++u) {
    const Index i = forwards ? u : n - 1 - u, first = std::max<Index>(0, u - width), cut = u - u % segment<N>;
    const N* const line = (forwards ? lines.first_before : lines.first_after) + i * lines.next;
    N value = x[i];
    const auto subtract_terms = [&](Index from, Index to) __attribute__((target("avx2,fma"), always_inline)) {
      N chain{};
      for (Index f = from; f < to; ++f) {
        const Index k = forwards ? f : n - 1 - f;
        if (forwards)
          add_term(chain, line[(k - i + lines.before) * lines.step_before], x[k], lines.conjugates_before);
        else
          add_term(chain, line[(k - i - 1) * lines.step_after], x[k], lines.conjugates_after);
      }
      value = less(value, chain);
    };
    if (first < cut) subtract_terms(first, cut);
    subtract_terms(std::max(first, cut), u);
    if (!is_unit) {
      N divisor = lines.diagonal[i * lines.next];
      if constexpr (has_two_parts<N>)
        if (lines.conjugates_diagonal) divisor.im = -divisor.im;
      value = divided(value, divisor);
    }
    x[i] = value;
  }
}

} // namespace

#define TESSERA_LINES(N)                                                                                           \
  TESSERA_WIDE_ENTRY void sum_lines(const Lines<N>& lines, const N* x, Index begin, Index end, N* sums) noexcept { \
    sum_all(lines, x, begin, end, sums);                                                                           \
  }                                                                                                                \
  TESSERA_WIDE_ENTRY void solve_lines(const Lines<N>& lines, bool forwards, const Strided<N>& x) noexcept {        \
    forwards ? solve_all<true>(lines, x) : solve_all<false>(lines, x);                                             \
  }
TESSERA_LINES(float)
TESSERA_LINES(double)
TESSERA_LINES(ComplexNumber<float>)
TESSERA_LINES(ComplexNumber<double>)
#undef TESSERA_LINES

} // namespace tessera::vectors

#endif
