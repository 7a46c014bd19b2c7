#pragma once

/// 16-bit elements: f16 (IEEE 754 binary16: 11 digits, 2⁻²⁴ … 65504) and bf16 (float's exponents with 8 digits).
///
///     f16 h(0.1f);               // rounded to nearest, ties to even; too large: Inf; NaN stays a quiet NaN
///     float x = h;               // exact
///     bool less = h < f16(1);    // as floats
///
/// These types only store numbers. They convert to float implicitly, so that arithmetic is done in float; the
/// conversion back is explicit. They have two bytes with the layout of CUDA's __half and __nv_bfloat16, _Float16 and
/// NumPy's float16. A double is rounded once, not first to float. Conversions work on the bits, so that host and device
/// agree whether or not they have instructions for them. Every type of whole numbers is rounded once, too, and on the
/// host long double. std::numeric_limits knows both types. In the library's
/// operations they round to nearest. In the caller's own code the caller's floating-point state decides how numbers
/// below f16's normal ones are rounded.

#include <cstdint>
#include <limits>
#include <type_traits>

#include <tessera/detail/export.hpp>
#include <tessera/detail/round_to_odd.hpp>
#include <tessera/types.hpp>

/// Asks for the classes of all other element types, which callers of visit() need.
#define TESSERA_ELEMENT_CLASSES
#include <tessera/detail/element_types.h>

#include <tessera/detail/macros_off.hpp>

namespace tessera {
namespace detail {

TESSERA_HOST_DEVICE constexpr float widen_f16(std::uint16_t half) {
  const std::uint32_t magnitude = half & 0x7FFFu;
  const std::uint32_t sign = (half & 0x8000u) << 16;
  constexpr std::uint32_t rebias = 112u << 23;
  // A subnormal is the last digits of a number from 0.5 on whose unit in the last place is the subnormals' unit.
  const std::uint32_t small = bits_of(float_of(0x3F000000u | (magnitude & 0x3FFu)) - 0.5f);
  const std::uint32_t normal = (magnitude << 13) + rebias;
  const std::uint32_t special = (magnitude << 13) + 2 * rebias; // Inf and NaN
  const std::uint32_t quiet = magnitude > 0x7C00u ? 0x00400000u : 0u;
  return float_of(sign | quiet | (magnitude < 0x400u ? small : magnitude < 0x7C00u ? normal : special));
}

TESSERA_HOST_DEVICE constexpr std::uint16_t narrow_f16(float x) {
  const std::uint32_t bits = bits_of(x);
  const std::uint32_t sign = bits >> 16 & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  const std::uint32_t small = bits_of(float_of(magnitude < 0x38800000u ? magnitude : 0u) + 0.5f) - 0x3F000000u;
  const std::uint32_t normal = (magnitude - (112u << 23) + 0xFFFu + (magnitude >> 13 & 1u)) >> 13;
  const std::uint32_t finite = magnitude < 0x38800000u ? small : normal; // from 2⁻¹⁴ on normal
  const std::uint32_t large = magnitude > 0x7F800000u ? 0x7E00u | (magnitude >> 13 & 0x3FFu) : 0x7C00u;
  return static_cast<std::uint16_t>(sign | (magnitude < 0x47800000u ? finite : large)); // below 2¹⁶
}

TESSERA_HOST_DEVICE constexpr float widen_bf16(std::uint16_t half) {
  const std::uint32_t quiet = (half & 0x7FFFu) > 0x7F80u ? 0x00400000u : 0u;
  return float_of(static_cast<std::uint32_t>(half) << 16 | quiet);
}

TESSERA_HOST_DEVICE constexpr std::uint16_t narrow_bf16(float x) {
  const std::uint32_t bits = bits_of(x);
  const std::uint32_t rounded = bits + 0x7FFFu + (bits >> 16 & 1u);
  return static_cast<std::uint16_t>(((bits & 0x7FFFFFFFu) > 0x7F800000u ? bits | 0x00400000u : rounded) >> 16);
}

} // namespace detail

/// A number of 16 bits, IEEE 754 binary16; the comment of this header says how it converts.
struct f16 {
  std::uint16_t bits; ///< the number as it is stored

  /// Leaves the number undefined.
  f16() = default;
  /// Rounds to nearest, ties to even.
  TESSERA_HOST_DEVICE explicit constexpr f16(float x) : bits(detail::narrow_f16(x)) {}
  /// Rounds once, to nearest, ties to even.
  TESSERA_HOST_DEVICE explicit constexpr f16(double x) : f16(detail::round_to_odd(x)) {}
  /// Rounds once, to nearest, ties to even.
  TESSERA_HOST_DEVICE explicit constexpr f16(int x) : f16(static_cast<double>(x)) {}
  /// Rounds once, to nearest, ties to even: std::int64_t (tessera::Index), std::size_t, bool and the others.
  template <detail::OtherInteger I>
  TESSERA_HOST_DEVICE explicit constexpr f16(I x) : f16(detail::round_to_odd(x)) {}
  /// Rounds once, to nearest, ties to even. Host code alone has it.
  explicit constexpr f16(long double x) : f16(detail::round_to_odd(x)) {}
  /// Returns the number as a float, which is exact.
  TESSERA_HOST_DEVICE constexpr operator float() const { return detail::widen_f16(bits); }

  /// Returns the number that these bits stand for.
  TESSERA_HOST_DEVICE static constexpr f16 from_bits(std::uint16_t bits) {
    f16 x(0.0f);
    x.bits = bits;
    return x;
  }
};

/// A number of 16 bits, bfloat16; the comment of this header says how it converts.
struct bf16 {
  std::uint16_t bits; ///< the number as it is stored

  /// Leaves the number undefined.
  bf16() = default;
  /// Rounds to nearest, ties to even.
  TESSERA_HOST_DEVICE explicit constexpr bf16(float x) : bits(detail::narrow_bf16(x)) {}
  /// Rounds once, to nearest, ties to even.
  TESSERA_HOST_DEVICE explicit constexpr bf16(double x) : bf16(detail::round_to_odd(x)) {}
  /// Rounds once, to nearest, ties to even.
  TESSERA_HOST_DEVICE explicit constexpr bf16(int x) : bf16(static_cast<double>(x)) {}
  /// Rounds once, to nearest, ties to even: std::int64_t (tessera::Index), std::size_t, bool and the others.
  template <detail::OtherInteger I>
  TESSERA_HOST_DEVICE explicit constexpr bf16(I x) : bf16(detail::round_to_odd(x)) {}
  /// Rounds once, to nearest, ties to even. Host code alone has it.
  explicit constexpr bf16(long double x) : bf16(detail::round_to_odd(x)) {}
  /// Returns the number as a float, which is exact.
  TESSERA_HOST_DEVICE constexpr operator float() const { return detail::widen_bf16(bits); }

  /// Returns the number that these bits stand for.
  TESSERA_HOST_DEVICE static constexpr bf16 from_bits(std::uint16_t bits) {
    bf16 x(0.0f);
    x.bits = bits;
    return x;
  }
};

static_assert(sizeof(f16) == 2 && alignof(f16) == 2 && std::is_trivially_copyable_v<f16>);
static_assert(sizeof(bf16) == 2 && alignof(bf16) == 2 && std::is_trivially_copyable_v<bf16>);

/// Calls f(T{}), a zero, and returns its result, where T is the C++ type of `type`; visit() does so with T's tag.
template <class F>
constexpr decltype(auto) with_element(DType type, F&& f) {
  return visit(type, [&f]<class T>(std::type_identity<T>) -> decltype(auto) { return f(T{}); });
}

} // namespace tessera

/// @cond limits
// The reference has no page for these, because the standard says what their members are.

/// The members that differ from float's.
template <>
class std::numeric_limits<tessera::f16> : public std::numeric_limits<float> {
 public:
  static constexpr int digits = 11, digits10 = 3, max_digits10 = 5;
  static constexpr int min_exponent = -13, min_exponent10 = -4, max_exponent = 16, max_exponent10 = 4;
  static constexpr tessera::f16 min() noexcept { return tessera::f16::from_bits(0x0400); }
  static constexpr tessera::f16 max() noexcept { return tessera::f16::from_bits(0x7BFF); }
  static constexpr tessera::f16 lowest() noexcept { return tessera::f16::from_bits(0xFBFF); }
  static constexpr tessera::f16 epsilon() noexcept { return tessera::f16::from_bits(0x1400); }
  static constexpr tessera::f16 round_error() noexcept { return tessera::f16::from_bits(0x3800); }
  static constexpr tessera::f16 denorm_min() noexcept { return tessera::f16::from_bits(0x0001); }
  static constexpr tessera::f16 infinity() noexcept { return tessera::f16::from_bits(0x7C00); }
  static constexpr tessera::f16 quiet_NaN() noexcept { return tessera::f16::from_bits(0x7E00); }
  static constexpr tessera::f16 signaling_NaN() noexcept { return tessera::f16::from_bits(0x7D00); }
};
template <>
class std::numeric_limits<tessera::bf16> : public std::numeric_limits<float> {
 public:
  static constexpr int digits = 8, digits10 = 2, max_digits10 = 4;
  static constexpr tessera::bf16 min() noexcept { return tessera::bf16::from_bits(0x0080); }
  static constexpr tessera::bf16 max() noexcept { return tessera::bf16::from_bits(0x7F7F); }
  static constexpr tessera::bf16 lowest() noexcept { return tessera::bf16::from_bits(0xFF7F); }
  static constexpr tessera::bf16 epsilon() noexcept { return tessera::bf16::from_bits(0x3C00); }
  static constexpr tessera::bf16 round_error() noexcept { return tessera::bf16::from_bits(0x3F00); }
  static constexpr tessera::bf16 denorm_min() noexcept { return tessera::bf16::from_bits(0x0001); }
  static constexpr tessera::bf16 infinity() noexcept { return tessera::bf16::from_bits(0x7F80); }
  static constexpr tessera::bf16 quiet_NaN() noexcept { return tessera::bf16::from_bits(0x7FC0); }
  static constexpr tessera::bf16 signaling_NaN() noexcept { return tessera::bf16::from_bits(0x7FA0); }
};
/// @endcond

#include <tessera/detail/macros_on.hpp>
