#pragma once

/// The activations of an epilogue. Host and device compute them with the same sequence of additions, products,
/// quotients and fused multiply-adds, all rounded to nearest, so that the results have the same bits.
///
/// gelu(x) = x / (1 + exp(−z)) with z = x·(c₁ + c₂·x²), c₁ = 2·√(2/π), c₂ = 0.044715·c₁: the tanh form of Hendrycks and
/// Gimpel, "Gaussian error linear units" (2016). Its error is at most 4·u·|x|, u the type's unit roundoff; −Inf gives
/// NaN, as the form itself does.

#include <cmath>
#include <cstdint>

#include <tessera/detail/export.hpp>
#include <tessera/epilogue.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {
namespace detail {

/// The constants of exp for a type.
template <class T>
struct ExpConstants;

template <>
struct ExpConstants<float> {
  using Bits = std::uint32_t;
  static constexpr float infinite = __builtin_huge_valf(), overflow = 88.0f, underflow = -87.0f;
  static constexpr float per_octave = 1.44269504f;
  static constexpr float octave_high = 0.693359375f, octave_low = -2.12194440e-4f; ///< ln 2 in two parts
  static constexpr float shift = 12582912.0f; ///< 1.5·2²³: x + shift rounds x to a whole number
  static constexpr float large = 0x1p100f, smaller = 0x1p-64f;
  static constexpr int digits = 23, bias = 127, degree = 7;
};

template <>
struct ExpConstants<double> {
  using Bits = std::uint64_t;
  static constexpr double infinite = __builtin_huge_val(), overflow = 709.0, underflow = -708.0;
  static constexpr double per_octave = 1.4426950408889634;
  static constexpr double octave_high = 6.93147180369123816490e-01, octave_low = 1.90821492927058770002e-10;
  static constexpr double shift = 6755399441055744.0; ///< 1.5·2⁵²
  static constexpr double large = 0x1p900, smaller = 0x1p-512;
  static constexpr int digits = 52, bias = 1023, degree = 13;
};

/// Returns exp(x) as 2ⁿ·exp(r) with |r| ≤ ln 2 / 2, exp(r) by its series. Returns Inf above `overflow`, and
/// exp(underflow) below `underflow`.
template <class T>
[[gnu::always_inline]] TESSERA_HOST_DEVICE inline T same_exp(T x) {
  using Constants = ExpConstants<T>;
  using Bits = typename Constants::Bits;
  const T held = x < Constants::underflow ? Constants::underflow : x;
  const T shifted = std::fma(held, Constants::per_octave, Constants::shift);
  const T octaves = shifted - Constants::shift;
  const T r = std::fma(-octaves, Constants::octave_low, std::fma(-octaves, Constants::octave_high, held));
  constexpr T inverse_factorial[] = {T(1),
                                     T(1),
                                     T(1.0 / 2),
                                     T(1.0 / 6),
                                     T(1.0 / 24),
                                     T(1.0 / 120),
                                     T(1.0 / 720),
                                     T(1.0 / 5040),
                                     T(1.0 / 40320),
                                     T(1.0 / 362880),
                                     T(1.0 / 3628800),
                                     T(1.0 / 39916800),
                                     T(1.0 / 479001600),
                                     T(1.0 / 6227020800)};
  T sum = inverse_factorial[Constants::degree];
  for (int power = Constants::degree; power > 0; --power) sum = std::fma(sum, r, inverse_factorial[power - 1]);
  // The last digits of `shifted` are n.
  const Bits n = __builtin_bit_cast(Bits, shifted) - __builtin_bit_cast(Bits, Constants::shift);
  const T scale = __builtin_bit_cast(T, static_cast<Bits>(n + Constants::bias) << Constants::digits);
  return x > Constants::overflow ? Constants::infinite : sum * scale;
}

/// Returns x / y for y ≥ 1, even if y is Inf or NaN, with the bits of the division. On a device a division takes many
/// more instructions if y is very large, as in gelu for x below −9. There y is scaled first; the quotient stays a
/// normal number.
template <class T>
[[gnu::always_inline]] TESSERA_HOST_DEVICE inline T quotient(T x, T y) {
#if defined(__CUDA_ARCH__)
  using Constants = ExpConstants<T>;
  if (y == Constants::infinite) return x * T{0};
  const T scale = y > Constants::large ? Constants::smaller : T{1};
  return x / (y * scale) * scale;
#else
  return x / y;
#endif
}

} // namespace detail

/// Returns x, or +0 if x is negative; NaN stays.
template <class T>
[[gnu::always_inline]] TESSERA_HOST_DEVICE inline T relu(T x) {
  return x < T{0} ? T{0} : x;
}

/// Returns x·Φ(x) in its tanh form, with the same bits on every host and device.
template <class T>
[[gnu::always_inline]] TESSERA_HOST_DEVICE inline T gelu(T x) {
  constexpr T c1 = T(1.5957691216057308), c2 = T(0.07135481627260025);
  const T z = x * std::fma(c2, x * x, c1);
  return detail::quotient(x, T{1} + detail::same_exp(-z));
}

/// Returns what the activation makes of x.
template <class T>
[[gnu::always_inline]] TESSERA_HOST_DEVICE inline T activated(Activation activation, T x) {
  switch (activation) {
    case Activation::Relu:
      return relu(x);
    case Activation::Gelu:
      return gelu(x);
    case Activation::None:
      break;
  }
  return x;
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
