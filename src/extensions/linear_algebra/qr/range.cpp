/// Powers of two that keep least squares away from the ends of the range. They are computed outside the headers,
/// because a caller's code computes in the caller's floating-point state.

#include "range.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <tessera/linear_algebra/qr.hpp>

#include "extensions/linear_algebra/enter.hpp"
#include "extensions/linear_algebra/numbers.hpp"

namespace tessera::linear_algebra {
namespace {

/// The real numbers of a matrix, or the parts of complex ones.
template <class P>
struct Rows {
  Index rows, cols;
  P* data;
  Index ld;
};
template <class T>
Rows<Part<T>> parts_of(Index rows, Index cols, T* a, Index lda) {
  return {rows, cols * Number<T>::parts, reinterpret_cast<Part<T>*>(a), lda * Number<T>::parts};
}

/// Magnitudes are in the order of their bits as integers, with Inf and NaN above all numbers.
template <class P>
P largest_of(const Rows<P>& x) {
  using Bits = std::conditional_t<sizeof(P) == 4, std::int32_t, std::int64_t>;
  Bits largest = 0;
  for (Index i = 0; i < x.rows; ++i)
    for (Index j = 0; j < x.cols; ++j) {
      const Bits bits = std::bit_cast<Bits>(x.data[i * x.ld + j]) & std::numeric_limits<Bits>::max();
      largest = largest > bits ? largest : bits;
    }
  return std::bit_cast<P>(largest);
}

/// The powers are numbers of P, and so exact, up to the one that a solution may need. It is not inlined into functions
/// that set the state, because the compiler would move the last products out of it.
template <class P>
[[gnu::noinline]] void multiply(const Rows<P>& x, int exponent) {
  const P power = std::ldexp(P(1), exponent);
  for (Index i = 0; i < x.rows; ++i)
    for (Index j = 0; j < x.cols; ++j) x.data[i * x.ld + j] *= power;
}

} // namespace

/// Numbers from 2^−most on and below 2^most need no scale.
template <class P>
int range_exponent(double largest) {
  constexpr int most = std::numeric_limits<P>::max_exponent - 1 - std::numeric_limits<P>::digits;
  if (largest == 0 || !std::isfinite(largest)) return 0;
  const int exponent = std::ilogb(largest);
  return exponent >= most ? most - 1 - exponent : exponent < -most ? -most - exponent : 0;
}
template int range_exponent<float>(double);
template int range_exponent<double>(double);

} // namespace tessera::linear_algebra

namespace tessera::detail {

template <class T>
int bring_into_range(Index rows, Index cols, T* a, Index lda) {
  const ContractArithmetic contract;
  const auto parts = linear_algebra::parts_of(rows, cols, a, lda);
  const int exponent = linear_algebra::range_exponent<linear_algebra::Part<T>>(linear_algebra::largest_of(parts));
  if (exponent != 0) linear_algebra::multiply(parts, exponent);
  return exponent;
}

template <class T>
void multiply_by_power(Index rows, Index cols, T* a, Index lda, int exponent) {
  const ContractArithmetic contract;
  if (exponent != 0) linear_algebra::multiply(linear_algebra::parts_of(rows, cols, a, lda), exponent);
}

#define TESSERA_INSTANTIATE(T)                            \
  template int bring_into_range(Index, Index, T*, Index); \
  template void multiply_by_power(Index, Index, T*, Index, int);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<float>)
TESSERA_INSTANTIATE(std::complex<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::detail
