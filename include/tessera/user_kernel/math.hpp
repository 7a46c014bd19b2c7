#pragma once

/// Mathematics for functors (user_kernel.hpp) whose bits are equal on every backend.
///
///     float y = tessera::exp(-x);       // qualified: exp(x) alone takes the C library's function for a double
///
/// fma, sqrt, abs, min and max are exact: what IEEE 754 says, rounded once. exp, log and tanh are sequences of
/// operations that are rounded to nearest; host and device run the same sequence. Their measured errors are below 1 ULP
/// (exp, log) and 1.34 ULP (tanh); docs/user_kernels.md has the measurements, and why there are no other functions.
/// Infinities, zeros and NaN are where IEEE 754 and C put them; NaN's sign and payload are the machine's own.
///
/// The bits hold where the compiler neither contracts nor reorders: tessera_add_kernels() passes -ffp-contract=off to
/// the host's compiler and to clang for SPIR-V, and -fmad=false to nvcc. -ffast-math breaks them.
///
/// Source: log is fdlibm's (Sun Microsystems, 1993), tanh near 0 is Cephes' (Moshier), exp is its series.

#include <cstdint>
#include <type_traits>

#include <tessera/user_kernel/view.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

namespace detail {

/// double where one of the types is double, else float, as which whole numbers and 16-bit elements are taken.
template <class... Ts>
using MathType = std::conditional_t<(std::is_same_v<Ts, double> || ...), double, float>;

TESSERA_FN float exact_fma(float x, float y, float z) {
#if defined(__CUDA_ARCH__)
  return __fmaf_rn(x, y, z);
#else
  return __builtin_fmaf(x, y, z);
#endif
}
TESSERA_FN double exact_fma(double x, double y, double z) {
#if defined(__CUDA_ARCH__)
  return __fma_rn(x, y, z);
#else
  return __builtin_fma(x, y, z);
#endif
}
TESSERA_FN float exact_sqrt(float x) {
#if defined(__CUDA_ARCH__)
  return __fsqrt_rn(x);
#else
  return __builtin_sqrtf(x);
#endif
}
TESSERA_FN double exact_sqrt(double x) {
#if defined(__CUDA_ARCH__)
  return __dsqrt_rn(x);
#else
  return __builtin_sqrt(x);
#endif
}

/// What differs between float and double.
template <class T>
struct MathTraits;
template <>
struct MathTraits<float> {
  using Bits = std::uint32_t;
  static constexpr int digits = 23;
  static constexpr Bits bias = 127, sign = 0x80000000u, root_half = 0x3F3504F3u; ///< the bits of √½
  static constexpr float shift = 12582912.0f; ///< 1.5·2²³: x + shift rounds x to a whole number
  static constexpr float infinity = __builtin_huge_valf(), not_a_number = __builtin_nanf("");
  static constexpr float smallest = 0x1p-126f, scale_up = 0x1p24f;
  static constexpr Bits scaled_up = 24;
  static constexpr float exp_least = -104.0f, exp_most = 89.0f, tanh_one = 10.0f;
  static constexpr float per_octave = 1.44269504f, octave_high = 0.693359375f, octave_low = -2.12194440e-4f;
  static constexpr float log_high = 6.9313812256e-01f, log_low = 9.0580006145e-06f;
};
template <>
struct MathTraits<double> {
  using Bits = std::uint64_t;
  static constexpr int digits = 52;
  static constexpr Bits bias = 1023, sign = 0x8000000000000000u, root_half = 0x3FE6A09E667F3BCDu;
  static constexpr double shift = 6755399441055744.0; ///< 1.5·2⁵²
  static constexpr double infinity = __builtin_huge_val(), not_a_number = __builtin_nan("");
  static constexpr double smallest = 0x1p-1022, scale_up = 0x1p54;
  static constexpr Bits scaled_up = 54;
  static constexpr double exp_least = -746.0, exp_most = 710.0, tanh_one = 22.0;
  static constexpr double per_octave = 1.4426950408889634;
  static constexpr double octave_high = 6.93147180369123816490e-01, octave_low = 1.90821492927058770002e-10;
  static constexpr double log_high = octave_high, log_low = octave_low;
};

template <class T>
using MathBits = typename MathTraits<T>::Bits;

/// Returns (exp(r) − 1 − r) / r² for |r| ≤ ln 2 / 2.
TESSERA_FN float exp_rest(float r) {
  float q = 1.0f / 40320;
  q = exact_fma(q, r, 1.0f / 5040);
  q = exact_fma(q, r, 1.0f / 720);
  q = exact_fma(q, r, 1.0f / 120);
  q = exact_fma(q, r, 1.0f / 24);
  q = exact_fma(q, r, 1.0f / 6);
  return exact_fma(q, r, 0.5f);
}
TESSERA_FN double exp_rest(double r) {
  double q = 1.0 / 87178291200;
  q = exact_fma(q, r, 1.0 / 6227020800);
  q = exact_fma(q, r, 1.0 / 479001600);
  q = exact_fma(q, r, 1.0 / 39916800);
  q = exact_fma(q, r, 1.0 / 3628800);
  q = exact_fma(q, r, 1.0 / 362880);
  q = exact_fma(q, r, 1.0 / 40320);
  q = exact_fma(q, r, 1.0 / 5040);
  q = exact_fma(q, r, 1.0 / 720);
  q = exact_fma(q, r, 1.0 / 120);
  q = exact_fma(q, r, 1.0 / 24);
  q = exact_fma(q, r, 1.0 / 6);
  return exact_fma(q, r, 0.5);
}

/// exp(x) = 2ⁿ·exp(r), |r| ≤ ln 2 / 2. 2ⁿ is applied in two factors, because n goes beyond the exponents of T.
template <class T>
TESSERA_FN T same_exponential(T x) {
  using Traits = MathTraits<T>;
  using Bits = MathBits<T>;
  T held = x < Traits::exp_least ? Traits::exp_least : x;
  held = held > Traits::exp_most ? Traits::exp_most : held;
  const T shifted = exact_fma(held, Traits::per_octave, Traits::shift);
  const T octaves = shifted - Traits::shift;
  const T r = exact_fma(-octaves, Traits::octave_low, exact_fma(-octaves, Traits::octave_high, held));
  const T power = T(1) + exact_fma(r * r, exp_rest(r), r);
  // The last digits of `shifted` are n. 2·bias is added so that nothing is negative.
  const Bits n = __builtin_bit_cast(Bits, shifted) - __builtin_bit_cast(Bits, Traits::shift) + 2 * Traits::bias;
  const Bits half = n >> 1;
  const T first = __builtin_bit_cast(T, static_cast<Bits>(half << Traits::digits));
  const T second = __builtin_bit_cast(T, static_cast<Bits>((n - half) << Traits::digits));
  return power * first * second;
}

/// Returns Σ of fdlibm's series of log: (log(1+f) − 2·s) / s for s² = z, s = f / (2 + f).
TESSERA_FN float log_series(float z) {
  return z * exact_fma(z, exact_fma(z, exact_fma(z, 0.24279078841f, 0.28498786688f), 0.40000972152f), 0.66666662693f);
}
TESSERA_FN double log_series(double z) {
  double p = exact_fma(z, 1.479819860511658591e-01, 1.531383769920937332e-01);
  p = exact_fma(z, p, 1.818357216161805012e-01);
  p = exact_fma(z, p, 2.222219843214978396e-01);
  p = exact_fma(z, p, 2.857142874366239149e-01);
  p = exact_fma(z, p, 3.999999999940941908e-01);
  return z * exact_fma(z, p, 6.666666666666735130e-01);
}

/// log(x) = k·ln 2 + log(1 + f) with 1 + f in [√½, √2).
template <class T>
TESSERA_FN T same_logarithm(T x) {
  using Traits = MathTraits<T>;
  using Bits = MathBits<T>;
  const bool tiny = x < Traits::smallest;
  const Bits bits = __builtin_bit_cast(Bits, tiny ? x * Traits::scale_up : x);
  // One more than the exponent's bias is added, so that the shift is of a positive number.
  const Bits above = bits - Traits::root_half + ((Traits::bias + 1) << Traits::digits);
  const Bits octaves = (above >> Traits::digits) - (Traits::bias + 1);
  const T f = __builtin_bit_cast(T, static_cast<Bits>(bits - (octaves << Traits::digits))) - T(1);
  const Bits counted = octaves - (tiny ? Traits::scaled_up : 0);
  const T k =
      __builtin_bit_cast(T, static_cast<Bits>(counted + __builtin_bit_cast(Bits, Traits::shift))) - Traits::shift;
  const T s = f / (T(2) + f);
  const T half_square = T(0.5) * f * f;
  const T low = exact_fma(s, half_square + log_series(s * s), k * Traits::log_low);
  const T result = exact_fma(k, Traits::log_high, f - (half_square - low));
  if (x < T(0) || x != x) return x != x ? x : Traits::not_a_number;
  if (x == T(0)) return -Traits::infinity;
  return x == Traits::infinity ? x : result;
}

/// Returns tanh(x) for |x| < 0.625.
TESSERA_FN float small_tanh(float x) {
  const float z = x * x;
  float p = exact_fma(z, -5.70498872745e-3f, 2.06390887954e-2f);
  p = exact_fma(z, p, -5.37397155531e-2f);
  p = exact_fma(z, p, 1.33314422036e-1f);
  p = exact_fma(z, p, -3.33332819422e-1f);
  return exact_fma(z * p, x, x);
}
TESSERA_FN double small_tanh(double x) {
  const double z = x * x;
  const double p =
      exact_fma(z, exact_fma(z, -9.64399179425052238628e-1, -9.92877231001918586564e1), -1.61468768441708447952e3);
  const double q =
      exact_fma(z, exact_fma(z, z + 1.12811678491632931402e2, 2.23548839060100448583e3), 4.84406305325125486048e3);
  return exact_fma(z * (p / q), x, x);
}

template <class T>
TESSERA_FN T same_tanh(T x) {
  using Traits = MathTraits<T>;
  using Bits = MathBits<T>;
  const Bits bits = __builtin_bit_cast(Bits, x);
  const T magnitude = __builtin_bit_cast(T, static_cast<Bits>(bits & ~Traits::sign));
  const T held = magnitude > Traits::tanh_one ? Traits::tanh_one : magnitude;
  const T large = T(1) - T(2) / (same_exponential(held + held) + T(1));
  const T signed_large =
      __builtin_bit_cast(T, static_cast<Bits>(__builtin_bit_cast(Bits, large) | (bits & Traits::sign)));
  const T small = small_tanh(x);
  return magnitude < T(0.625) || x != x ? small : signed_large;
}

} // namespace detail

/// Returns x·y + z, rounded once, in double where an argument is double, else in float.
template <class X, class Y, class Z>
TESSERA_FN detail::MathType<X, Y, Z> fma(X x, Y y, Z z) {
  using T = detail::MathType<X, Y, Z>;
  return detail::exact_fma(static_cast<T>(x), static_cast<T>(y), static_cast<T>(z));
}
/// Returns the square root of x, rounded once; −0 for −0, NaN below it.
template <class X>
TESSERA_FN detail::MathType<X> sqrt(X x) {
  return detail::exact_sqrt(static_cast<detail::MathType<X>>(x));
}
/// Returns |x|.
template <class X>
TESSERA_FN detail::MathType<X> abs(X x) {
  using T = detail::MathType<X>;
  using Bits = detail::MathBits<T>;
  const Bits bits = __builtin_bit_cast(Bits, static_cast<T>(x));
  return __builtin_bit_cast(T, static_cast<Bits>(bits & ~detail::MathTraits<T>::sign));
}
/// Returns the smaller number, IEEE 754's minimum: NaN if one is NaN, −0 before +0.
template <class X, class Y>
TESSERA_FN detail::MathType<X, Y> min(X x, Y y) {
  using T = detail::MathType<X, Y>;
  using Bits = detail::MathBits<T>;
  const T a = static_cast<T>(x), b = static_cast<T>(y);
  const Bits either = __builtin_bit_cast(Bits, a) | __builtin_bit_cast(Bits, b);
  return a < b ? a : b < a ? b : a == b ? __builtin_bit_cast(T, either) : a + b;
}
/// Returns the larger number, IEEE 754's maximum: NaN if one is NaN, +0 after −0.
template <class X, class Y>
TESSERA_FN detail::MathType<X, Y> max(X x, Y y) {
  using T = detail::MathType<X, Y>;
  using Bits = detail::MathBits<T>;
  const T a = static_cast<T>(x), b = static_cast<T>(y);
  const Bits both = __builtin_bit_cast(Bits, a) & __builtin_bit_cast(Bits, b);
  return a > b ? a : b > a ? b : a == b ? __builtin_bit_cast(T, both) : a + b;
}

// The functions are templates, so that an unqualified sqrt(2.0) below `using namespace tessera` is not ambiguous.

/// Returns the exponential of x.
template <class X>
TESSERA_FN detail::MathType<X> exp(X x) {
  return detail::same_exponential(static_cast<detail::MathType<X>>(x));
}
/// Returns the natural logarithm of x.
template <class X>
TESSERA_FN detail::MathType<X> log(X x) {
  return detail::same_logarithm(static_cast<detail::MathType<X>>(x));
}
/// Returns the hyperbolic tangent of x.
template <class X>
TESSERA_FN detail::MathType<X> tanh(X x) {
  return detail::same_tanh(static_cast<detail::MathType<X>>(x));
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
