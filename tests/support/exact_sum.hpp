#pragma once

/// Rounding by exact arithmetic on whole numbers, apart from the library's own.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tessera::test {

/// Returns x rounded to `digits` bits, or to a multiple of 2^least if that is coarser, to nearest, ties to even.
inline double rounded_to(double x, int digits, int least) {
  if (x == 0) return x;
  int exponent = 0;
  std::frexp(x, &exponent);
  const double step = std::ldexp(1.0, std::max(exponent - digits, least));
  return std::nearbyint(x / step) * step;
}

/// Returns carried + sum·2^e, computed exactly and rounded to f32 once.
inline float exact_sum(float carried, float sum, int e) {
  struct Number {
    std::int64_t digits;
    int exponent;
    explicit Number(float x) {
      int power = 0;
      digits = static_cast<std::int64_t>(std::ldexp(std::frexp(x, &power), 24));
      exponent = power - 24;
    }
  };
  if (!std::isfinite(carried) || !std::isfinite(sum)) return carried + sum;
  Number x(carried), y(sum);
  y.exponent += e;
  if (x.digits == 0 && y.digits == 0) return carried + sum;
  if (x.digits == 0) x.exponent = y.exponent;
  if (y.digits == 0) y.exponent = x.exponent;
  const Number &high = x.exponent >= y.exponent ? x : y, &low = x.exponent >= y.exponent ? y : x;
  constexpr int most = 38; // a number that is further below decides the rounding by its sign alone
  const bool far = high.exponent - low.exponent > most;
  const int shift = far ? most : high.exponent - low.exponent, exponent = high.exponent - shift;
  const std::int64_t sign_of_low = low.digits > 0 ? 1 : low.digits < 0 ? -1 : 0;
  const std::int64_t total = high.digits * (std::int64_t{1} << shift) + (far ? sign_of_low : low.digits);
  if (total == 0) return 0;
  const auto size = static_cast<std::uint64_t>(total < 0 ? -total : total);
  const int last = std::max(exponent + static_cast<int>(std::bit_width(size)) - 24, -149), drop = last - exponent;
  std::uint64_t kept = 0;
  if (drop <= 0) {
    kept = size << -drop;
  } else if (drop < 64) {
    const std::uint64_t half = std::uint64_t{1} << (drop - 1), rest = size & (2 * half - 1);
    kept = size >> drop;
    if (rest > half || (rest == half && kept % 2 == 1)) ++kept;
  }
  const double magnitude = std::ldexp(static_cast<double>(kept), last);
  const float result = magnitude >= 0x1p128 ? std::numeric_limits<float>::infinity() : static_cast<float>(magnitude);
  return total < 0 ? -result : result;
}

} // namespace tessera::test
