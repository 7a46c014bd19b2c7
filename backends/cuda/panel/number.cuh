#pragma once

/// Real and complex numbers as one: what panels do with a number, in the contract's order of roundings
/// (docs/contract.md, "Linear algebra").

#include <cstdint>

#include <tessera/backend/panel.hpp>
#include <tessera/status.hpp>

#include "rounded.cuh"

namespace tessera::cuda {

/// A complex number, which one load takes.
template <class T>
struct alignas(2 * sizeof(T)) Complex {
  T re, im;
};

template <class T>
struct NumberOf {
  using Part = T;
  static constexpr bool is_complex = false;
};
template <class T>
struct NumberOf<Complex<T>> {
  using Part = T;
  static constexpr bool is_complex = true;
};
template <class T>
using PartOf = typename NumberOf<T>::Part;

/// Returns run(number), for a number of the call's type.
template <class Run>
Status for_number_of(const PanelCall& call, const Run& run) noexcept {
  const bool is_narrow = call.type == DType::F32;
  if (call.is_complex) return is_narrow ? run(Complex<float>{}) : run(Complex<double>{});
  return is_narrow ? run(float{}) : run(double{});
}

template <class T>
__device__ __forceinline__ Complex<T> operator-(const Complex<T>& a, const Complex<T>& b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T>
__device__ __forceinline__ Complex<T> operator/(const Complex<T>& a, T by) {
  return {a.re / by, a.im / by};
}

/// Returns the chain that goes on with the term a·b.
template <class T>
__device__ __forceinline__ T multiply_add(T a, T b, T sum) {
  if constexpr (NumberOf<T>::is_complex)
    return {fma(a.im, -b.im, fma(a.re, b.re, sum.re)), fma(a.im, b.re, fma(a.re, b.im, sum.im))};
  else
    return fma(a, b, sum);
}
template <class T>
__device__ __forceinline__ T conjugate_of(T x) {
  if constexpr (NumberOf<T>::is_complex)
    return {x.re, -x.im};
  else
    return x;
}
template <class T>
__device__ __forceinline__ PartOf<T> real_part_of(T x) {
  if constexpr (NumberOf<T>::is_complex)
    return x.re;
  else
    return x;
}
template <class T>
__device__ __forceinline__ T real_number(PartOf<T> x) {
  if constexpr (NumberOf<T>::is_complex)
    return {x, 0};
  else
    return x;
}
template <class T>
__device__ __forceinline__ bool is_zero(T x) {
  if constexpr (NumberOf<T>::is_complex)
    return x.re == 0 && x.im == 0;
  else
    return x == T(0);
}
/// Returns the number that another lane of the warp's part of `width` lanes has.
template <class T>
__device__ __forceinline__ T number_of_lane(T x, int lane, int width) {
  constexpr unsigned all = 0xffffffffU;
  if constexpr (NumberOf<T>::is_complex)
    return {__shfl_sync(all, x.re, lane, width), __shfl_sync(all, x.im, lane, width)};
  else
    return __shfl_sync(all, x, lane, width);
}

/// quotient() and is_quotient() of both parts.
template <class T>
__device__ __forceinline__ Complex<T> quotient(const Complex<T>& x, Divisor<T> by) {
  return {quotient(x.re, by), quotient(x.im, by)};
}
template <class T>
__device__ __forceinline__ bool is_quotient(const Complex<T>& x, const Complex<T>& q, T by) {
  return is_quotient(x.re, q.re, by) & is_quotient(x.im, q.im, by);
}

/// Divides by one number many times. A complex one whose imaginary part is 0 divides each part.
template <class T>
struct Dividing {
  T by;
  __device__ explicit Dividing(T d) : by(d) {}
  __device__ T divide(T x) const { return x / by; }
};
/// Any other complex number is first multiplied by a power of two, so that neither its square nor the quotient
/// overflows on the way.
template <class T>
struct Dividing<Complex<T>> {
  T real;
  bool is_real;
  T scale = 1, inverse_re = 1, inverse_im = 0;

  __device__ explicit Dividing(Complex<T> d) : real(d.re), is_real(d.im == T(0)) {
    if (is_real) return;
    scale = scale_of(fmax(fabs(d.re), fabs(d.im)));
    const T re = scale * d.re, im = scale * d.im;
    const T square = fma(re, re, im * im);
    const Divisor<T> by_square = divisor_of(square);
    inverse_re = quotient(re, by_square);
    inverse_im = quotient(-im, by_square);
    if (is_moderate(square) & is_quotient(re, inverse_re, square) & is_quotient(-im, inverse_im, square)) return;
    inverse_re = re / square;
    inverse_im = -im / square;
  }
  /// Returns the power of two that brings a divisor's larger part to [1/4, 1/2), or a subnormal one nearer; 1 where it
  /// is not finite.
  static __device__ __forceinline__ T scale_of(T larger) {
    using W = Words<T>;
    constexpr int infinite = 2 * W::bias + 1;
    const int exponent = static_cast<int>(W::high(larger) >> W::digits);
    const int field = 2 * W::bias - 2 - (exponent < 1 ? 1 : exponent);
    if (field > 0) return W::of_high(static_cast<std::uint32_t>(field) << W::digits);
    return exponent == infinite ? T(1) : ldexp(T(1), field - W::bias);
  }
  /// Divides by a number that is not real.
  __device__ __forceinline__ Complex<T> divide_complex(const Complex<T>& x) const {
    const T re = scale * x.re, im = scale * x.im;
    return {fma(re, inverse_re, -(im * inverse_im)), fma(re, inverse_im, im * inverse_re)};
  }
  __device__ Complex<T> divide(const Complex<T>& x) const { return is_real ? x / real : divide_complex(x); }
};

} // namespace tessera::cuda
