#pragma once

/// Floating-point types of 16 bits, stored as such and computed with in f32.

#include <cstdint>
#include <cstring>

namespace tessera::lens {

/// The bits of IEEE's binary16, rounded to nearest, ties to even.
struct HalfBits {
  static std::uint16_t from(float x) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, 4);
    const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
    const std::uint32_t size = bits & 0x7fffffff;
    if (size > 0x7f800000) return sign | 0x7e00;
    if (size >= 0x47800000 || (size >= 0x477ff000)) return sign | 0x7c00;
    const int exponent = static_cast<int>(size >> 23) - 127;
    if (exponent < -25) return sign;
    const std::uint32_t fraction = (size & 0x7fffff) | 0x800000;
    const int drop = exponent < -14 ? -1 - exponent : 13; // bits that are rounded away
    const std::uint32_t kept = fraction >> drop, rest = fraction & ((1u << drop) - 1), half = 1u << (drop - 1);
    std::uint32_t rounded = kept + (rest > half || (rest == half && (kept & 1) != 0));
    if (exponent >= -14) rounded += static_cast<std::uint32_t>(exponent + 14) << 10; // the hidden bit adds one
    return static_cast<std::uint16_t>(sign | rounded);
  }
  static float to(std::uint16_t bits) {
    const std::uint32_t sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3ffu;
    float x = static_cast<float>(fraction) * 0x1p-24f; // as a subnormal
    if (exponent != 0) {
      const std::uint32_t all = exponent == 31 ? 0x7f800000u | fraction << 13 : (exponent + 112) << 23 | fraction << 13;
      std::memcpy(&x, &all, 4);
    }
    return sign != 0 ? -x : x;
  }
};

/// The bits of bfloat16, rounded to nearest, ties to even.
struct Bfloat16Bits {
  static std::uint16_t from(float x) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, 4);
    if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
    return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
  static float to(std::uint16_t bits) {
    const std::uint32_t all = static_cast<std::uint32_t>(bits) << 16;
    float x;
    std::memcpy(&x, &all, 4);
    return x;
  }
};

template <class Bits>
struct SmallFloat {
  std::uint16_t bits;

  SmallFloat() = default;
  SmallFloat(float x) : bits(Bits::from(x)) {}
  SmallFloat(double x) : bits(Bits::from(static_cast<float>(x))) {}
  SmallFloat(int x) : bits(Bits::from(static_cast<float>(x))) {}
  operator float() const { return Bits::to(bits); }
  SmallFloat& operator+=(float x) { return *this = SmallFloat(static_cast<float>(*this) + x); }
};

} // namespace tessera::lens
