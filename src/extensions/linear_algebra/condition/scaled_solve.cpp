#include "scaled_solve.hpp"

#include <limits>
#include <type_traits>
#include <utility>

#include "extensions/linear_algebra/vectors/matrix_vector.hpp"
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
    solve(call);
  }
  if (turned) exchange(a.exchanges, turned, x);
}

template <class T>
using UnboundedNumbers = std::vector<UnboundedNumber<T>>;

/// One triangle, M·x = b, by the number of its rows. The call may have op(T)·x = b, or x·op(T) = b, whose M is op(T)ᵀ.
template <class T>
struct TriangleOfCall {
  explicit TriangleOfCall(const detail::TriangularCall<T>& call)
      : n(call.n),
        t(call.t),
        ld(call.ldt),
        is_stored((call.side == Side::Left) == (call.op == Op::None)),
        conjugated(is_complex<T> && call.op == Op::ConjugateTranspose),
        is_lower((call.triangle == Triangle::Lower) == is_stored),
        has_unit_diagonal(call.diagonal == Diagonal::Unit) {}

  T at(Index i, Index k) const { return conjugated_if(conjugated, is_stored ? t[i * ld + k] : t[k * ld + i]); }

  /// Solves in the place of b. By columns the memory holds the transpose.
  void solve(std::vector<T>& x) const {
    using N = std::conditional_t<is_complex<T>, ComplexNumber<Part<T>>, T>;
    const bool lower_by_columns = is_lower != is_stored;
    const vectors::Half half = lower_by_columns ? vectors::Half::Lower : vectors::Half::Upper;
    auto columns = vectors::triangle(reinterpret_cast<const N*>(t), half, n, ld);
    columns.diagonal = has_unit_diagonal ? vectors::OnDiagonal::One : vectors::OnDiagonal::Stored;
    vectors::solve_triangle<N>(columns, half, {is_stored, conjugated}, {reinterpret_cast<N*>(x.data()), n});
  }
  /// Solves by the contract's formulas.
  void solve(UnboundedNumbers<T>& numbers) const {
    const auto row = [&](Index i) { return is_lower ? i : n - 1 - i; };
    const auto x = [&](Index i) -> UnboundedNumber<T>& { return numbers[static_cast<std::size_t>(row(i))]; };
    const auto m = [&](Index i, Index k) { return UnboundedNumber<T>(at(row(i), row(k))); };
    for (Index i = 0; i < n; ++i) {
      for (Index first = 0; first < i; first += segment_length<T>) {
        UnboundedNumber<T> chain;
        for (Index k = first; k < std::min(i, first + segment_length<T>); ++k)
          chain = extended<T>(chain, m(i, k), x(k));
        x(i) = difference(x(i), chain);
      }
      if (!has_unit_diagonal) x(i) = quotient(x(i), m(i, i));
    }
  }

  Index n;
  const T* t;
  Index ld;
  bool is_stored; ///< the memory holds M by rows, and else its transpose
  bool conjugated, is_lower, has_unit_diagonal;
};

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
int solve_scaled(const detail::FactoredSystem<T>& a, bool turned, std::vector<T>& x) {
  UnboundedNumbers<T> numbers(x.begin(), x.end());
  for_triangles(a, turned, x, [&](const auto& call) { TriangleOfCall<T>(call).solve(x); });
  if (is_ordinary(x)) return 0;
  for_triangles(a, turned, numbers, [&](const auto& call) { TriangleOfCall<T>(call).solve(numbers); });
  return rounded(numbers, x);
}

#define TESSERA_INSTANTIATE(T) template int solve_scaled(const detail::FactoredSystem<T>&, bool, std::vector<T>&);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<float>)
TESSERA_INSTANTIATE(std::complex<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::linear_algebra
