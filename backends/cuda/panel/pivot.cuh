#pragma once

/// The search for the pivot of a column: the largest magnitude, of equals the first row, and NaN above all.

#include <climits>
#include <cstdint>
#include <type_traits>

namespace tessera::cuda {

/// A row and the order of its magnitude, which is above 0; no row has 0.
struct Pivot {
  std::uint64_t order = 0;
  int row = INT_MAX;
};

/// Returns a number that orders magnitudes as |x| does, in which all NaN are one above Inf.
__device__ inline std::uint64_t order_of(double x) {
  constexpr std::uint64_t infinity = 0x7ff0000000000000;
  const auto bits = static_cast<std::uint64_t>(__double_as_longlong(x)) & 0x7fffffffffffffff;
  return (bits > infinity ? infinity + 1 : bits) + 1;
}
__device__ inline std::uint64_t order_of(float x) {
  constexpr std::uint32_t infinity = 0x7f800000;
  const std::uint32_t bits = __float_as_uint(x) & 0x7fffffff;
  return (bits > infinity ? infinity + 1 : bits) + 1;
}

__device__ inline unsigned largest_of_warp(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(0xffffffff, value);
#else
  for (int distance = 16; distance > 0; distance /= 2) {
    const unsigned other = __shfl_xor_sync(0xffffffff, value, distance);
    value = value > other ? value : other;
  }
  return value;
#endif
}

/// Returns the warp's pivot, to all its lanes. Rows ascend with nothing: each lane has any.
template <class T>
__device__ inline Pivot pivot_of_warp(Pivot mine) {
  bool is_candidate = true;
  std::uint64_t order = 0;
  if constexpr (sizeof(T) == 8) {
    const unsigned high = static_cast<unsigned>(mine.order >> 32), highest = largest_of_warp(high);
    is_candidate = high == highest;
    order = static_cast<std::uint64_t>(highest) << 32;
  }
  const unsigned low = is_candidate ? static_cast<unsigned>(mine.order) : 0, lowest_part = largest_of_warp(low);
  is_candidate = is_candidate && low == lowest_part;
  order |= lowest_part;
  const unsigned before_end = is_candidate ? static_cast<unsigned>(INT_MAX - mine.row) : 0;
  return {order, INT_MAX - static_cast<int>(largest_of_warp(before_end))};
}

} // namespace tessera::cuda
