#pragma once

/// Numbers of fewer significant bits, as cheaper arithmetic has them.

#include <cstdint>
#include <cstring>

/// Returns x with the low `bits` bits of its significand cut off, after `added` was added to them.
inline float without_low_bits(float x, int bits, std::uint32_t added = 0) {
  std::uint32_t all = 0;
  std::memcpy(&all, &x, sizeof all);
  all = (all + added) >> bits << bits;
  std::memcpy(&x, &all, sizeof all);
  return x;
}

/// Rounds x to the 11 significant bits of tf32 and f16.
inline float rounded_to_11_bits(float x) { return without_low_bits(x, 13, 0x1000); }
