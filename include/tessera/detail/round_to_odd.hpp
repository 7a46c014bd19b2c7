#pragma once

/// Rounds numbers to odd, for the classes of element types, which round once to nearest (half.hpp).

#include <concepts>
#include <cstdint>

#include <tessera/detail/export.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail {

TESSERA_HOST_DEVICE constexpr std::uint32_t bits_of(float x) { return __builtin_bit_cast(std::uint32_t, x); }
TESSERA_HOST_DEVICE constexpr float float_of(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }

/// Rounds x to float, to odd. If the result is then rounded to half as many digits, it is as if x were rounded once.
/// Source: Boldo, Melquiond: "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd"
/// (2008).
TESSERA_HOST_DEVICE constexpr float round_to_odd(double x) {
  const auto bits = __builtin_bit_cast(std::uint64_t, x);
  const std::uint32_t sign = static_cast<std::uint32_t>(bits >> 32) & 0x80000000u;
  const std::uint64_t magnitude = bits & 0x7FFFFFFFFFFFFFFFu;
  if (magnitude > 0x7FF0000000000000u) return float_of(sign | 0x7FC00000u);  // NaN
  if (magnitude >= 0x47F0000000000000u) return float_of(sign | 0x7F800000u); // from 2¹²⁸ on
  const int exponent = static_cast<int>(magnitude >> 52);                    // 1023 more than the power of two
  if (magnitude == 0) return float_of(sign);
  if (exponent < 863) return float_of(sign | 1u);                // below 2⁻¹⁶⁰
  std::uint64_t digits = magnitude - (std::uint64_t{896} << 52); // float's exponent is 127 more
  int dropped = 29;
  if (exponent < 897) { // float has subnormals here
    digits = (magnitude & 0xFFFFFFFFFFFFFu) | (std::uint64_t{1} << 52);
    dropped = 926 - exponent;
  }
  const bool inexact = (digits & ((std::uint64_t{1} << dropped) - 1)) != 0;
  return float_of(sign | static_cast<std::uint32_t>(digits >> dropped) | (inexact ? 1u : 0u));
}

/// Returns x as a double, exactly, if x has at most 53 digits, else rounded to odd.
template <std::integral I>
TESSERA_HOST_DEVICE constexpr double round_to_odd(I x) {
  static_assert(sizeof(I) <= sizeof(std::uint64_t));
  const bool negative = x < I{0};
  std::uint64_t magnitude = negative ? std::uint64_t{0} - static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
  constexpr std::uint64_t dropped = 0x7FF; // the digits of 64 that a double may not have
  if (magnitude >> 53 != 0)
    magnitude = (magnitude & ~dropped) | ((magnitude & dropped) != 0 ? dropped + 1 : std::uint64_t{0});
  return negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
}

/// Rounds x to double, to odd. Device code knows no long double.
constexpr double round_to_odd(long double x) {
  const double nearest = static_cast<double>(x);
  const auto wide = static_cast<long double>(nearest);
  if (wide == x || x != x) return nearest;
  const bool beyond = x < 0 ? wide < x : wide > x;
  const auto bits = __builtin_bit_cast(std::uint64_t, nearest) - (beyond ? 1 : 0);
  return __builtin_bit_cast(double, bits | 1);
}

/// A type of whole numbers that a 16-bit element has no other constructor for.
template <class I>
concept OtherInteger = std::integral<I> && !std::same_as<I, int> && sizeof(I) <= sizeof(std::uint64_t);

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
