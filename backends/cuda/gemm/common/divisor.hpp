#pragma once

/// Division by a number that the host knows, for kernels: a multiplication instead of a division, which takes a hundred
/// cycles and more, and of which a block has several to do before its first product. Source: Granlund and Montgomery,
/// "Division by Invariant Integers using Multiplication" (PLDI 1994).

#include <cuda_runtime_api.h>

#include <bit>

#include <tessera/types.hpp>

#include "ceil_div.hpp"

namespace tessera::cuda {

/// The divisor `value` is at least 1, and the numbers that it divides are not negative. Numbers from 2³¹ on take an
/// ordinary division.
class Divisor {
 public:
  Divisor() : Divisor(1) {}
  explicit Divisor(Index value) : value_(value) {
    if (value >> small != 0) return; // the quotient of any smaller number is 0, as with a multiplier of 0
    shift_ = small + static_cast<int>(std::bit_width(static_cast<unsigned long long>(value - 1)));
    multiplier_ = static_cast<unsigned>(ceil_div(1ULL << shift_, static_cast<unsigned long long>(value)));
  }

  __host__ __device__ Index value() const { return value_; }
  __host__ __device__ Index quotient(Index x) const {
    if (x >> small != 0) return x / value_;
    return static_cast<Index>(static_cast<unsigned long long>(x) * multiplier_ >> shift_);
  }

 private:
  static constexpr int small = 31; ///< bits of the numbers that take the multiplication

  Index value_;
  unsigned multiplier_ = 0; ///< 2^shift / value, rounded up
  int shift_ = 0;
};

} // namespace tessera::cuda
