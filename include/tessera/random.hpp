#pragma once

/// Counter-based random numbers: element e of a matrix depends only on (seed, e), so that every backend fills a matrix
/// with the same bits, with any number of threads.
///
/// Source: Philox4x32-10 of Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3" (SC11).

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <tessera/detail/export.hpp>
#include <tessera/executor.hpp>
#include <tessera/half.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// 128 bits: a counter of Philox, or what it makes of one.
struct PhiloxBlock {
  std::uint32_t word[4]; ///< the bits, the lowest word first
};

/// Philox4x32-10 as published: ten rounds over a 128-bit counter with a 64-bit key.
TESSERA_HOST_DEVICE inline PhiloxBlock philox4x32(std::uint64_t key, const PhiloxBlock& counter) {
  std::uint32_t key0 = static_cast<std::uint32_t>(key);
  std::uint32_t key1 = static_cast<std::uint32_t>(key >> 32);
  std::uint32_t x0 = counter.word[0];
  std::uint32_t x1 = counter.word[1];
  std::uint32_t x2 = counter.word[2];
  std::uint32_t x3 = counter.word[3];
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53u} * x0;
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57u} * x2;
    const std::uint32_t next0 = static_cast<std::uint32_t>(product1 >> 32) ^ x1 ^ key0;
    const std::uint32_t next2 = static_cast<std::uint32_t>(product0 >> 32) ^ x3 ^ key1;
    x0 = next0;
    x1 = static_cast<std::uint32_t>(product1);
    x2 = next2;
    x3 = static_cast<std::uint32_t>(product0);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return {{x0, x1, x2, x3}};
}

/// Returns block `counter` of stream `stream` for this seed.
TESSERA_HOST_DEVICE inline PhiloxBlock philox4x32(std::uint64_t seed, std::uint64_t counter, std::uint32_t stream = 0) {
  return philox4x32(
      seed, PhiloxBlock{{static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), stream, 0}});
}

/// Returns a number uniform in [0, 1) on a grid of 2⁻²⁴, from word `slot`.
TESSERA_HOST_DEVICE inline float unit_uniform(const PhiloxBlock& block, int slot, float) {
  return static_cast<float>(block.word[slot] >> 8) * 0x1p-24f;
}
/// Returns a number uniform in [0, 1) on a grid of 2⁻⁵³, from pair `slot` of words.
TESSERA_HOST_DEVICE inline double unit_uniform(const PhiloxBlock& block, int slot, double) {
  const std::uint64_t bits = (std::uint64_t{block.word[2 * slot]} << 32) | block.word[2 * slot + 1];
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

/// Returns ±2^exponent·(1 + fraction·2⁻⁶⁴) with the fraction cut to the type's digits. As in the formats, the exponent
/// below the smallest one gives zero and subnormals, and the exponent above the largest one gives Inf and NaN.
TESSERA_HOST_DEVICE inline float compose(bool negative, int exponent, std::uint64_t fraction, float) {
  const std::uint32_t bits = (std::uint32_t{negative} << 31) | (static_cast<std::uint32_t>(exponent + 127) << 23) |
                             static_cast<std::uint32_t>(fraction >> 41);
  float x = 0;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
/// Does in double what compose() does in float.
TESSERA_HOST_DEVICE inline double compose(bool negative, int exponent, std::uint64_t fraction, double) {
  const std::uint64_t bits =
      (std::uint64_t{negative} << 63) | (static_cast<std::uint64_t>(exponent + 1023) << 52) | (fraction >> 12);
  double x = 0;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
/// Does in f16 what compose() does in float.
TESSERA_HOST_DEVICE inline f16 compose(bool negative, int exponent, std::uint64_t fraction, f16) {
  return f16::from_bits(static_cast<std::uint16_t>((negative ? 0x8000u : 0u) |
                                                   (static_cast<std::uint32_t>(exponent + 15) << 10) |
                                                   static_cast<std::uint32_t>(fraction >> 54)));
}
/// Does in bf16 what compose() does in float.
TESSERA_HOST_DEVICE inline bf16 compose(bool negative, int exponent, std::uint64_t fraction, bf16) {
  return bf16::from_bits(static_cast<std::uint16_t>((negative ? 0x8000u : 0u) |
                                                    (static_cast<std::uint32_t>(exponent + 127) << 7) |
                                                    static_cast<std::uint32_t>(fraction >> 57)));
}

/// The largest exponent of a type's normal numbers, and the number of stored binary digits of the fraction.
struct NumberFormat {
  int largest_exponent; ///< as a power of two
  int digits;           ///< without the leading one
};
/// The format of T.
template <class T>
inline constexpr NumberFormat number_format{element_type(dtype_of<T>).largest_exponent,
                                            element_type(dtype_of<T>).digits - 1};

/// Returns an element of Distribution::Special: numbers that arithmetic on normal numbers does not meet.
template <class T>
TESSERA_HOST_DEVICE inline T special_element(const PhiloxBlock& block, Scalar<T> exceptional, Scalar<T> extreme) {
  using S = Scalar<T>;
  constexpr int largest = number_format<T>.largest_exponent;
  constexpr int digits = number_format<T>.digits;
  const double pick = block.word[0] * 0x1p-32;
  const std::uint32_t kind = block.word[1] & 7;
  const bool negative = (block.word[1] >> 3 & 1) != 0;
  const std::uint64_t fraction = (std::uint64_t{block.word[2]} << 32) | block.word[3];
  if (pick < static_cast<double>(exceptional)) // half of them NaN
    return compose(negative && kind >= 4, largest + 1, kind >= 4 ? 0 : std::uint64_t{1} << 63, T{});
  if (pick >= static_cast<double>(exceptional) + static_cast<double>(extreme))
    return static_cast<T>(std::fma(unit_uniform(block, sizeof(S) == 4 ? 2 : 1, S{}), S{2}, S{-1}));
  switch (kind) {
    case 0:
    case 1:
      return compose(negative, -largest, 0, T{}); // zero
    case 2:
      return compose(negative, -largest, std::uint64_t{1} << (64 - digits), T{}); // the smallest subnormal
    case 3:
      return compose(negative, -largest, fraction, T{}); // any subnormal
    case 4:
      return compose(negative, 1 - largest, 0, T{}); // the smallest normal
    case 5:
      return compose(negative, -largest * 3 / 4, fraction, T{}); // its square vanishes
    case 6:
      return compose(negative, largest * 3 / 4, fraction, T{}); // its square overflows
    default:
      return compose(negative, largest, ~std::uint64_t{0}, T{}); // the largest
  }
}

/// Returns the number of T next to the finite x: the next one below it, or above it.
template <class T>
TESSERA_HOST_DEVICE inline T neighbour(T x, bool above) {
  using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
  constexpr auto sign = static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1));
  auto bits = __builtin_bit_cast(Bits, x);
  const bool negative = (bits & sign) != 0;
  if (static_cast<Bits>(bits & ~sign) == 0)
    bits = static_cast<Bits>(above ? 1 : sign | 1); // the smallest subnormal number
  else
    bits = static_cast<Bits>(negative == above ? bits - 1 : bits + 1);
  return __builtin_bit_cast(T, bits);
}

/// Rounds x, which lies in [low, high], to a T in that range; or in [low, high), which is not empty, to a T that is
/// also below high. Rounding to T may leave such a range by one number of T.
template <class T>
TESSERA_HOST_DEVICE inline T round_within(Scalar<T> x, Scalar<T> low, Scalar<T> high, bool with_high) {
  const T rounded = static_cast<T>(x);
  const auto value = static_cast<Scalar<T>>(rounded);
  if (with_high ? value > high : value >= high) return neighbour(rounded, false);
  return value < low ? neighbour(rounded, true) : rounded;
}

/// Returns a number uniform in [low, high), or low where the two are equal. The sum low + u·(high − low) is one
/// rounding of the exact sum for the rounded difference, so that it may be `high`; then it is the largest T below.
/// Where the difference overflows, the halves are taken, which are exact.
template <class T>
TESSERA_HOST_DEVICE inline T uniform_between(Scalar<T> unit, Scalar<T> low, Scalar<T> high) {
  using S = Scalar<T>;
  if (!(low < high)) return static_cast<T>(low);
  const S difference = high - low;
  S x = std::fma(unit, difference, low);
  if (std::isinf(difference)) x = S{2} * std::fma(unit, high / 2 - low / 2, low / 2);
  if (x > high) x = high;
  return round_within<T>(x, low, high, false);
}

/// Returns element `e` (row · cols + column) of a random matrix. Every operation is exact or one IEEE rounding, and a
/// result stays within its range, whatever the roundings do. 16-bit elements are rounded elements of an f32 matrix,
/// except that Wide and Special compose them in the type's own range.
template <class T>
TESSERA_HOST_DEVICE inline T random_element(Distribution distribution, std::uint64_t seed, std::uint64_t e,
                                            Scalar<T> low, Scalar<T> high) {
  using S = Scalar<T>;
  constexpr int slots = 16 / static_cast<int>(sizeof(S)); // elements that one block of 16 bytes makes
  if (distribution == Distribution::Normal) {
    // Twelve 32-bit uniforms: their sum is exact in double, has variance 1 and mean 6.
    std::uint64_t sum = 0;
    for (std::uint32_t part = 1; part <= 3; ++part) {
      const PhiloxBlock block = philox4x32(seed, e, part);
      for (int i = 0; i < 4; ++i) sum += block.word[i];
    }
    const double deviate = static_cast<double>(sum) * 0x1p-32 - 6.0;
    return static_cast<T>(static_cast<S>(std::fma(deviate, static_cast<double>(high), static_cast<double>(low))));
  }
  if (distribution == Distribution::Wide) {
    const PhiloxBlock block = philox4x32(seed, e, 4);
    const std::uint64_t count = static_cast<std::uint64_t>(high - low) + 1;
    const int exponent = static_cast<int>(low) + static_cast<int>((std::uint64_t{block.word[0]} * count) >> 32);
    return compose((block.word[1] & 1) != 0, exponent, (std::uint64_t{block.word[2]} << 32) | block.word[3], T{});
  }
  if (distribution == Distribution::Special) return special_element<T>(philox4x32(seed, e, 5), low, high);
  const PhiloxBlock block = philox4x32(seed, e / slots);
  const int slot = static_cast<int>(e % slots);
  if (distribution == Distribution::Integers) {
    const std::uint64_t count = static_cast<std::uint64_t>(high - low) + 1;
    const std::uint64_t pick = (std::uint64_t{block.word[slot]} * count) >> 32;
    const S drawn = low + static_cast<S>(pick);
    return round_within<T>(drawn > high ? high : drawn, low, high, true);
  }
  return uniform_between<T>(unit_uniform(block, slot, S{}), low, high);
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
