#include "scaled_solve.hpp"

#include <limits>
#include <utility>

#include "extensions/linear_algebra/sided.hpp"
#include "sizes.hpp"
#include "unbounded.hpp"

namespace tessera::linear_algebra {
namespace {

/// Exchanges rows in the order of A·x = b, or of Aᴴ·x = b.
template <class X>
void exchange(std::span<const Index> rows, bool turned, std::vector<X>& x) {
  const std::size_t count = rows.size();
  for (std::size_t step = 0; step < count; ++step) {
    const std::size_t j = turned ? count - 1 - step : step;
    std::swap(x[j], x[static_cast<std::size_t>(rows[j])]);
  }
}

/// Calls solve(triangle) for the triangles of the system in their order.
template <class T, class X, class Solve>
void for_triangles(const detail::FactoredSystem<T>& a, bool turned, std::vector<X>& x, const Solve& solve) {
  if (!turned) exchange(a.exchanges, turned, x);
  for (int step = 0; step < a.count; ++step) {
    detail::TriangularCall<T> call = a.triangles[turned ? a.count - 1 - step : step];
    if (turned) call.op = call.op == Op::None ? Op::ConjugateTranspose : Op::None;
    call.count = 1;
    solve(call);
  }
  if (turned) exchange(a.exchanges, turned, x);
}

template <class T>
using UnboundedNumbers = std::vector<UnboundedNumber<T>>;

/// Solves with one triangle by the contract's formulas.
template <class T>
void solve_unbounded(const detail::TriangularCall<T>& call, UnboundedNumbers<T>& numbers) {
  const SidedCall<T> sided(call);
  Lines<T> lines = sided.lines(call);
  const bool is_turned_round = !sided.is_lower;
  if (is_turned_round) lines.m = lines.m.turned_round(call.n, call.n);
  const auto x = [&](Index i) -> UnboundedNumber<T>& {
    return numbers[static_cast<std::size_t>(is_turned_round ? call.n - 1 - i : i)];
  };
  const auto m = [&](Index i, Index k) { return UnboundedNumber<T>(conjugated_if(lines.conjugate, lines.m.at(i, k))); };
  for (Index i = 0; i < call.n; ++i) {
    for (Index first = 0; first < i; first += segment_length<T>) {
      UnboundedNumber<T> chain;
      for (Index k = first; k < std::min(i, first + segment_length<T>); ++k)
        chain = call.side == Side::Left ? extended<T>(chain, m(i, k), x(k)) : extended<T>(chain, x(k), m(i, k));
      x(i) = difference(x(i), chain);
    }
    if (!lines.has_unit_diagonal) x(i) = quotient(x(i), m(i, i));
  }
}

/// Rounds the numbers to T after the division by a power of two, whose exponent is returned.
template <class T>
int rounded(const UnboundedNumbers<T>& numbers, std::vector<T>& x) {
  std::int64_t largest = std::numeric_limits<std::int64_t>::min();
  for (const auto& number : numbers)
    for (const auto& part : {number.re, number.im})
      if (!part.is_zero() && part.is_finite()) largest = std::max(largest, part.exponent);
  if (largest == std::numeric_limits<std::int64_t>::min()) largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Part<T> re = numbers[i].re.times_power(-largest);
    if constexpr (is_complex<T>)
      x[i] = {re, numbers[i].im.times_power(-largest)};
    else
      x[i] = re;
  }
  return static_cast<int>(largest);
}

/// Is nothing lost at the ends of the range?
template <class T>
bool is_ordinary(const std::vector<T>& x) {
  constexpr int least = std::numeric_limits<Part<T>>::min_exponent + std::numeric_limits<Part<T>>::digits;
  double sum = 0, largest = 0;
  for (const T number : x) {
    const double size = magnitude_of(number);
    sum += size;
    largest = std::max(largest, size);
  }
  return std::isfinite(sum) && largest >= std::ldexp(1.0, least);
}

} // namespace

template <class T>
int solve_scaled(const detail::FactoredSystem<T>& a, bool turned, std::vector<T>& x, const SolveOptions& options,
                 detail::Shortage shortage) {
  UnboundedNumbers<T> numbers(x.begin(), x.end());
  for_triangles(a, turned, x, [&](detail::TriangularCall<T>& call) {
    call.b = x.data();
    call.ldb = call.side == Side::Left ? 1 : call.n;
    detail::triangular_solve(call, options, shortage);
  });
  if (is_ordinary(x)) return 0;
  for_triangles(a, turned, numbers, [&](const detail::TriangularCall<T>& call) { solve_unbounded(call, numbers); });
  return rounded(numbers, x);
}

#define TESSERA_INSTANTIATE(T)                                                                            \
  template int solve_scaled(const detail::FactoredSystem<T>&, bool, std::vector<T>&, const SolveOptions&, \
                            detail::Shortage);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<float>)
TESSERA_INSTANTIATE(std::complex<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::linear_algebra
