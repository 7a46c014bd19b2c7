#pragma once

/// The class of the stand-in element type: 16 bits with 6 bits of exponent. The test puts it beside the public headers.

#include <cmath>
#include <cstdint>
#include <limits>

#include <tessera/detail/round_to_odd.hpp>
#include <tessera/types.hpp>

namespace tessera {

struct f16e6 {
  std::uint16_t bits;

  f16e6() = default;
  explicit f16e6(float x) : bits(std::signbit(x) ? 0x8000 : 0) {
    const float size = std::fabs(x);
    if (std::isnan(x)) {
      bits = 0x7F00;
    } else if (size >= 0x1.FFCp31f) { // rounds to 2³²
      bits = static_cast<std::uint16_t>(bits | 0x7E00);
    } else if (size > 0) {
      const int exponent = std::max(std::ilogb(size), -30);
      const int units = static_cast<int>(std::nearbyint(std::ldexp(size, 9 - exponent)));
      bits = static_cast<std::uint16_t>(bits | (((exponent + 30) << 9) + units));
    }
  }
  explicit f16e6(double x) : f16e6(detail::round_to_odd(x)) {}
  explicit f16e6(int x) : f16e6(static_cast<double>(x)) {}
  template <detail::OtherInteger I>
  explicit f16e6(I x) : f16e6(detail::round_to_odd(x)) {}
  operator float() const {
    const int exponent = bits >> 9 & 63, fraction = bits & 511;
    const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
    if (exponent == 63)
      return fraction != 0 ? std::numeric_limits<float>::quiet_NaN() : sign * std::numeric_limits<float>::infinity();
    return sign * std::ldexp(static_cast<float>(exponent == 0 ? fraction : fraction + 512), std::max(exponent, 1) - 40);
  }
};

} // namespace tessera
