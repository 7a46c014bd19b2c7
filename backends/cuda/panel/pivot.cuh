#pragma once

/// The search for the pivot of a column: the largest magnitude, of equals the first row, and NaN above all. The
/// magnitude of a complex number is |re| + |im|.

#include <climits>
#include <cstdint>

#include "number.cuh"

namespace tessera::cuda {

/// The order of a row's magnitude, which is above 0, and the row's place in the panel; no row has the order 0.
struct Candidate {
  std::uint64_t order = 0;
  int place = INT_MAX;

  __device__ bool is_before(const Candidate& other) const {
    return order > other.order || (order == other.order && place < other.place);
  }
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
template <class T>
__device__ std::uint64_t order_of(const Complex<T>& x) {
  return order_of(fabs(x.re) + fabs(x.im));
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

/// Returns which of the lanes in `candidates` have the largest value.
__device__ inline unsigned lanes_of_largest(unsigned candidates, unsigned value) {
  const bool is_one = (candidates >> (threadIdx.x % 32) & 1) != 0;
  const unsigned largest = largest_of_warp(is_one ? value : 0);
  return __ballot_sync(0xffffffff, is_one && value == largest);
}

/// Returns the lane of the warp's best candidate. One half of the order decides nearly always.
template <class T>
__device__ inline int lane_of_best(const Candidate& mine) {
  unsigned lanes = 0xffffffff;
  if constexpr (sizeof(PartOf<T>) == 8) {
    lanes = lanes_of_largest(lanes, static_cast<unsigned>(mine.order >> 32));
    if (__popc(lanes) == 1) return __ffs(static_cast<int>(lanes)) - 1;
  }
  lanes = lanes_of_largest(lanes, static_cast<unsigned>(mine.order));
  if (__popc(lanes) > 1) lanes = lanes_of_largest(lanes, static_cast<unsigned>(INT_MAX - mine.place));
  return __ffs(static_cast<int>(lanes)) - 1;
}

} // namespace tessera::cuda
