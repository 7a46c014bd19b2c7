/// An estimate of ‖A⁻¹‖₁ from a few systems with A and Aᴴ, and condition numbers by it. All of it is outside the
/// headers, because a caller's code computes in the caller's floating-point state.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <tessera/detail/floating_point.hpp>
#include <tessera/linear_algebra/condition.hpp>

#include "extensions/linear_algebra/enter.hpp"
#include "polar.hpp"
#include "scaled_solve.hpp"
#include "solution.hpp"
#include "unbounded.hpp"

namespace tessera::detail {
namespace {

using linear_algebra::is_complex;
using linear_algebra::magnitude_of;

/// Σ|x|, in double, in ascending order.
template <class T>
double sum_of_magnitudes(const std::vector<T>& x) {
  double sum = 0;
  for (const T element : x) sum += magnitude_of(element);
  return sum;
}

template <class T>
std::size_t largest(const std::vector<T>& x) {
  std::size_t at = 0;
  for (std::size_t i = 1; i < x.size(); ++i)
    if (magnitude_of(x[i]) > magnitude_of(x[at])) at = i;
  return at;
}

/// Replaces x by its signs, or by the directions of complex numbers. Returns whether they are the ones in `signs`,
/// which take them; directions are not compared.
template <class T>
bool take_signs(std::vector<T>& x, [[maybe_unused]] std::vector<T>& signs) {
  if constexpr (is_complex<T>) {
    for (T& element : x) {
      const std::complex<double> direction = linear_algebra::polar_of(element).direction;
      element = direction == std::complex<double>(0) ? T(1) : static_cast<T>(direction);
    }
    return false;
  } else {
    for (T& element : x) element = std::signbit(element) ? T(-1) : T(1);
    const bool same = x == signs;
    signs = x;
    return same;
  }
}

/// Is x above y? NaN is not.
bool is_above(const ScaledNumber& x, const ScaledNumber& y) {
  constexpr int far = 5000; // beyond all exponents of a double
  return std::ldexp(x.value, std::clamp(x.exponent - y.exponent, -far, far)) > y.value;
}

// These functions are not inlined into the ones that set the state, because the compiler would move what they compute
// last out of it.

/// Writes x, divided by a power of two that brings its largest number near 1.
template <class T>
void write_scaled(const std::vector<T>& x, T* to) {
  const double most = magnitude_of(x[largest(x)]);
  const int exponent = std::isfinite(most) && most > 0 ? std::ilogb(most) : 0;
  const auto scaled = [&](auto part) { return std::ldexp(part, -exponent); };
  for (std::size_t i = 0; i < x.size(); ++i) {
    if constexpr (is_complex<T>)
      to[i] = {scaled(x[i].real()), scaled(x[i].imag())};
    else
      to[i] = scaled(x[i]);
  }
}

/// With `solution`, writes a solution of the largest ratio that was found, as write_scaled() does.
template <class T>
[[gnu::noinline]] ScaledNumber estimate(const FactoredSystem<T>& a, bool turned, T* solution) {
  using Part = linear_algebra::Part<T>;
  const Index n = a.triangles[0].n;
  const auto size = static_cast<std::size_t>(n);
  std::vector<T> x(size, static_cast<Part>(1.0 / static_cast<double>(n))), signs;
  const auto solve = [&](bool other) { return linear_algebra::solve_scaled(a, turned != other, x); };
  // Solves, and returns ‖x‖₁.
  const auto norm = [&] {
    const int exponent = solve(false);
    return ScaledNumber{sum_of_magnitudes(x), exponent};
  };
  ScaledNumber most = norm();
  if (solution != nullptr) write_scaled(x, solution);
  if (n == 1) return most;
  take_signs(x, signs);
  solve(true);
  constexpr int most_columns = 4;
  for (int column = 0; column < most_columns; ++column) {
    const std::size_t at = largest(x);
    x.assign(size, T(0));
    x[at] = 1;
    const ScaledNumber now = norm();
    if (!is_above(now, most)) break; // NaN ends it, too
    most = now;
    if (solution != nullptr) write_scaled(x, solution);
    if (take_signs(x, signs)) break;
    solve(true);
    if (largest(x) == at) break;
  }
  // Where the columns that were looked at cancel, this vector seldom does.
  for (std::size_t i = 0; i < size; ++i) {
    const double magnitude = 1 + static_cast<double>(i) / static_cast<double>(n - 1);
    x[i] = static_cast<Part>(i % 2 == 0 ? magnitude : -magnitude);
  }
  ScaledNumber other = norm();
  other.value = 2 * other.value / (3 * static_cast<double>(n));
  if (std::isnan(most.value) || std::isnan(other.value)) return {std::numeric_limits<double>::quiet_NaN(), 0};
  if (!is_above(other, most)) return most;
  if (solution != nullptr) write_scaled(x, solution);
  return other;
}

using Number = linear_algebra::Unbounded<double>;
Number unbounded(const ScaledNumber& x) { return {x.value, x.exponent}; }

[[gnu::noinline]] double multiply(const ScaledNumber& x, const ScaledNumber& y) {
  return (unbounded(x) * unbounded(y)).times_power();
}
template <class P>
[[gnu::noinline]] P divide(const ScaledNumber& norm, const ScaledNumber& inverse) {
  if (inverse.value == 0) return 0;
  return static_cast<P>((Number(1) / unbounded(inverse) / unbounded(norm)).times_power());
}

} // namespace

template <class T>
ScaledNumber norm_of_inverse(const FactoredSystem<T>& a, bool turned) {
  return norm_of_inverse_with_solution(a, turned, static_cast<T*>(nullptr));
}
template <class T>
ScaledNumber norm_of_inverse_with_solution(const FactoredSystem<T>& a, bool turned, T* solution) {
  return linear_algebra::enter("condition", {}, [&] { return estimate(a, turned, solution); });
}

double condition_of(const ScaledNumber& norm, const ScaledNumber& inverse) {
  const ContractArithmetic contract;
  return multiply(norm, inverse);
}
template <class P>
P reciprocal_condition_of(const ScaledNumber& norm, const ScaledNumber& inverse) {
  const ContractArithmetic contract;
  return divide<P>(norm, inverse);
}
template float reciprocal_condition_of(const ScaledNumber&, const ScaledNumber&);
template double reciprocal_condition_of(const ScaledNumber&, const ScaledNumber&);

#define TESSERA_INSTANTIATE(T)                                           \
  template ScaledNumber norm_of_inverse(const FactoredSystem<T>&, bool); \
  template ScaledNumber norm_of_inverse_with_solution(const FactoredSystem<T>&, bool, T*);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<float>)
TESSERA_INSTANTIATE(std::complex<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::detail
