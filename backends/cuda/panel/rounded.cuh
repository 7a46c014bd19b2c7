#pragma once

/// Square roots and quotients as IEEE 754 rounds them, without a branch, and tests that say whether they are.
///
/// The operators and sqrt() have branches for rare operands, which keep the compiler from moving other work into the
/// time that a root takes. Here a divisor brings its reciprocal along, and a quotient costs three multiply-adds. The
/// last of Newton's steps gives nearly always the nearest number (P. Markstein, IBM J. Res. Dev. 34, 1990); is_root()
/// and is_quotient() prove it by the remainder. Where they say no, the caller uses the operators.

#include <cstdint>

namespace tessera::cuda {

template <class T>
struct Divisor {
  T value;
  T reciprocal; ///< nearly 1 / value
};

/// The high word of a number, and numbers that are neither so large nor so small that a remainder is inexact.
template <class T>
struct Words;

template <>
struct Words<float> {
  static constexpr std::uint32_t least = (127U - 60) << 23, span = 120U << 23;
  static constexpr int digits = 23, bias = 127;        ///< below the exponent of the high word
  static constexpr float half_unit = 1.0F / (1 << 24); ///< half a unit in the last place of 1
  static __device__ std::uint32_t high(float x) { return __float_as_uint(x); }
  static __device__ float of_high(std::uint32_t word) { return __uint_as_float(word); }
  static __device__ bool is_plus_zero(float x) { return __float_as_uint(x) == 0; }
  /// Returns the power of two at or below the next smaller magnitude; x is not 0.
  static __device__ float power_below(float x) { return __uint_as_float((__float_as_uint(x) - 1) & 0x7f800000U); }
};

template <>
struct Words<double> {
  static constexpr std::uint32_t least = (1023U - 400) << 20, span = 800U << 20;
  static constexpr int digits = 20, bias = 1023;
  static constexpr double half_unit = 1.0 / (std::int64_t{1} << 53);
  static __device__ std::uint32_t high(double x) { return static_cast<std::uint32_t>(__double2hiint(x)); }
  static __device__ double of_high(std::uint32_t word) { return __hiloint2double(static_cast<int>(word), 0); }
  static __device__ bool is_plus_zero(double x) { return __double_as_longlong(x) == 0; }
  static __device__ double power_below(double x) {
    return __longlong_as_double((__double_as_longlong(x) - 1) & 0x7ff0000000000000LL);
  }
};

template <class T>
__device__ __forceinline__ bool is_moderate(T x) {
  return (Words<T>::high(x) & 0x7fffffffU) - Words<T>::least < Words<T>::span;
}

/// Returns the root of d, as a divisor.
__device__ __forceinline__ Divisor<double> root_of(double d) {
  double y; // 20 bits
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(d));
  const double error = fma(-d, y * y, 1.0);
  y = fma(fma(error, 0.375, 0.5), error * y, y);
  const double root = d * y;
  return {fma(fma(-root, root, d), 0.5 * y, root), y};
}
__device__ __forceinline__ Divisor<float> root_of(float d) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(d));
  const float near = d * y, root = fma(fma(-near, near, d), 0.5F * y, near);
  return {root, fma(fma(-root, y, 1.0F), y, y)};
}

/// Returns d as a divisor.
__device__ __forceinline__ Divisor<double> divisor_of(double d) {
  double y; // 20 bits
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(d));
  y = fma(fma(-d, y, 1.0), y, y);
  return {d, fma(fma(-d, y, 1.0), y, y)};
}
__device__ __forceinline__ Divisor<float> divisor_of(float d) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(d));
  return {d, fma(fma(-d, y, 1.0F), y, y)};
}

/// Returns x / by.value.
template <class T>
__device__ __forceinline__ T quotient(T x, Divisor<T> by) {
  const T near = x * by.reciprocal;
  return fma(fma(-near, by.value, x), by.reciprocal, near);
}

/// Says whether `root` is the number nearest to the root of d: then the remainder is less than the root times the
/// distance to the next smaller number.
template <class T>
__device__ __forceinline__ bool is_root(T d, T root) {
  const T unit = Words<T>::power_below(root) * (2 * Words<T>::half_unit);
  return is_moderate(d) & (d > T(0)) & (fabs(fma(-root, root, d)) < root * unit);
}

/// Says whether q is the number nearest to x / by: then the remainder is less than the divisor times half the distance
/// to the next smaller number. The divisor is moderate.
template <class T>
__device__ __forceinline__ bool is_quotient(T x, T q, T by) {
  const T half_unit = Words<T>::power_below(q) * Words<T>::half_unit;
  return Words<T>::is_plus_zero(x) | (is_moderate(x) & (fabs(fma(-q, by, x)) < fabs(by) * half_unit));
}

} // namespace tessera::cuda
