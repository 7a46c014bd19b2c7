/// Determinants and their logarithms by factors. All of it is outside the headers, because a caller's code computes in
/// the caller's floating-point state.

#include <complex>
#include <span>

#include <tessera/detail/floating_point.hpp>
#include <tessera/linear_algebra/cholesky.hpp>
#include <tessera/linear_algebra/lu.hpp>
#include <tessera/user_kernel/math.hpp>

#include "polar.hpp"
#include "unbounded.hpp"

namespace tessera::detail {
namespace {

using linear_algebra::is_complex;
using linear_algebra::Polar;
using linear_algebra::polar_of;

int sign_of_swap(std::span<const Index> pivots, Index j) { return pivots[static_cast<std::size_t>(j)] == j ? 1 : -1; }

/// Element j of U's diagonal in double, with the sign of its exchange.
template <class T>
typename Determinant<T>::Number diagonal(const Matrix<T>& lu, std::span<const Index> pivots, Index j) {
  return static_cast<typename Determinant<T>::Number>(lu(j, j)) * static_cast<double>(sign_of_swap(pivots, j));
}

// These functions are not inlined into the ones that set the state, because the compiler would move what they compute
// last out of it.

/// No product on the way overflows or underflows.
template <class T>
[[gnu::noinline]] typename Determinant<T>::Number determinant(const Matrix<T>& lu, std::span<const Index> pivots) {
  using Result = typename Determinant<T>::Number;
  linear_algebra::UnboundedNumber<Result> product(1);
  for (Index j = 0; j < lu.rows(); ++j) product = linear_algebra::product<Result>(product, diagonal(lu, pivots, j));
  if constexpr (is_complex<T>)
    return {product.re.times_power(), product.im.times_power()};
  else
    return product.re.times_power();
}

template <class T>
[[gnu::noinline]] typename Determinant<T>::Logarithm log_determinant(const Matrix<T>& lu,
                                                                     std::span<const Index> pivots) {
  typename Determinant<T>::Logarithm result;
  for (Index j = 0; j < lu.rows(); ++j) {
    if constexpr (is_complex<T>) {
      const Polar u = polar_of(diagonal(lu, pivots, j));
      result.sign = linear_algebra::scaled(result.sign, u.direction);
      result.logarithm += u.logarithm;
    } else {
      const auto u = static_cast<double>(lu(j, j));
      result.sign *= sign_of_swap(pivots, j) * (u < 0 ? -1 : u == 0 ? 0 : 1);
      result.logarithm += tessera::log(u < 0 ? -u : u);
    }
  }
  return result;
}

template <class T>
[[gnu::noinline]] double sum_of_logarithms(const Matrix<T>& l) {
  double sum = 0;
  for (Index i = 0; i < l.rows(); ++i) sum += tessera::log(static_cast<double>(std::real(l(i, i))));
  return sum;
}

} // namespace

template <class T>
typename Determinant<T>::Number determinant_of(const Matrix<T>& lu, std::span<const Index> pivots) {
  const ContractArithmetic contract;
  return determinant(lu, pivots);
}

template <class T>
typename Determinant<T>::Logarithm log_determinant_of(const Matrix<T>& lu, std::span<const Index> pivots) {
  const ContractArithmetic contract;
  return log_determinant(lu, pivots);
}

template <class T>
double log_determinant_of_square(const Matrix<T>& l) {
  const ContractArithmetic contract;
  return 2 * sum_of_logarithms(l); // exact
}

#define TESSERA_INSTANTIATE(T)                                                                              \
  template typename Determinant<T>::Number determinant_of(const Matrix<T>&, std::span<const Index>);        \
  template typename Determinant<T>::Logarithm log_determinant_of(const Matrix<T>&, std::span<const Index>); \
  template double log_determinant_of_square(const Matrix<T>&);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<float>)
TESSERA_INSTANTIATE(std::complex<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::detail
