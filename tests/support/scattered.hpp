#pragma once

/// Random numbers whose products lie far apart, so that every change of the order of a sum changes bits.

#include <bit>
#include <cstdint>

namespace tessera::test {

/// Returns a number whose exponent lies between −6 and 6, in few instructions.
inline float scattered(std::uint64_t seed, std::uint64_t number) {
  std::uint64_t bits = (number + seed * 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ bits >> 31) * 0x94d049bb133111eb;
  bits ^= bits >> 29;
  const auto exponent = static_cast<std::uint32_t>(127 - 6 + bits % 13);
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits >> 63) << 31 | exponent << 23 |
                              (static_cast<std::uint32_t>(bits >> 32) & 0x7fffff));
}

} // namespace tessera::test
