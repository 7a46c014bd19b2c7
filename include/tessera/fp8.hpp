#pragma once

/// 8-bit elements: e4m3 and e5m2 of the OCP 8-bit Floating Point Specification 1.0.
///
///     e4m3 one = e4m3::from_bits(0x38);
///     float x = one;             // exact
///
/// These types only store numbers that other libraries have made; nothing is rounded to them. They have one byte, with
/// the layout of ml_dtypes' and PyTorch's float8_e4m3fn and float8_e5m2 and of CUDA's __nv_fp8_e4m3 and __nv_fp8_e5m2.
/// No matrix has such elements: check.hpp reads them.

#include <array>
#include <cstdint>
#include <limits>

#include <tessera/detail/export.hpp>
#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {
namespace detail {

/// Returns the value of a number with this many bits of exponent. The sign of NaN is dropped.
constexpr float widen_fp8(std::uint8_t bits, int exponent_bits) {
  const int digits = 7 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = bits >> digits & ((1 << exponent_bits) - 1), fraction = bits & ((1 << digits) - 1);
  const float sign = (bits & 0x80) != 0 ? -1.0f : 1.0f;
  const bool top = exponent == (1 << exponent_bits) - 1;
  if (top && (exponent_bits == 5 || fraction == 7)) { // e4m3 has no Inf
    const bool infinite = exponent_bits == 5 && fraction == 0;
    return infinite ? sign * std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  }
  float value = static_cast<float>(exponent == 0 ? fraction : fraction + (1 << digits));
  for (int power = (exponent == 0 ? 1 : exponent) - bias - digits; power != 0; power += power < 0 ? 1 : -1)
    value *= power < 0 ? 0.5f : 2.0f;
  return sign * value;
}

template <int exponent_bits>
inline constexpr std::array<float, 256> fp8_values = [] {
  std::array<float, 256> values{};
  for (std::size_t bits = 0; bits < values.size(); ++bits)
    values[bits] = widen_fp8(static_cast<std::uint8_t>(bits), exponent_bits);
  return values;
}();

} // namespace detail

/// A number of 8 bits with 4 bits of exponent: the largest is 448, and there are NaN but no Inf.
struct e4m3 {
  std::uint8_t bits; ///< the number as it is stored

  /// Returns the number as a float, which is exact.
  constexpr operator float() const { return detail::fp8_values<4>[bits]; }
  /// Returns the number that these bits stand for.
  static constexpr e4m3 from_bits(std::uint8_t bits) { return {bits}; }
};

/// A number of 8 bits with 5 bits of exponent: the largest is 57344, and there are NaN and Inf.
struct e5m2 {
  std::uint8_t bits; ///< the number as it is stored

  /// Returns the number as a float, which is exact.
  constexpr operator float() const { return detail::fp8_values<5>[bits]; }
  /// Returns the number that these bits stand for.
  static constexpr e5m2 from_bits(std::uint8_t bits) { return {bits}; }
};

static_assert(sizeof(e4m3) == 1 && sizeof(e5m2) == 1);

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
