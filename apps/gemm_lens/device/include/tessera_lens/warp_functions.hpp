#pragma once

/// What a warp's threads exchange. Each function is a barrier of the threads of its mask.

#include <cstring>

#include "runtime.hpp"

namespace tessera::lens {

inline unsigned lane_number() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % static_cast<unsigned>(warpSize);
}

template <class T>
__attribute__((always_inline)) inline T shuffle(unsigned mask, T value, unsigned source) {
  static_assert(sizeof(T) <= 8);
  unsigned long long bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = exchange(mask, bits, source);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

} // namespace tessera::lens

template <class T>
__attribute__((always_inline)) inline T __shfl_sync(unsigned mask, T value, int source, int width = warpSize) {
  const unsigned lane = tessera::lens::lane_number(), w = static_cast<unsigned>(width);
  return tessera::lens::shuffle(mask, value, lane / w * w + static_cast<unsigned>(source) % w);
}
template <class T>
__attribute__((always_inline)) inline T __shfl_xor_sync(unsigned mask, T value, int distance, int width = warpSize) {
  const unsigned lane = tessera::lens::lane_number(), w = static_cast<unsigned>(width);
  const unsigned source = lane ^ static_cast<unsigned>(distance);
  return tessera::lens::shuffle(mask, value, source / w > lane / w ? lane : source);
}
template <class T>
__attribute__((always_inline)) inline T __shfl_up_sync(unsigned mask, T value, unsigned distance,
                                                       int width = warpSize) {
  const unsigned lane = tessera::lens::lane_number(), w = static_cast<unsigned>(width);
  return tessera::lens::shuffle(mask, value, lane % w < distance ? lane : lane - distance);
}
template <class T>
__attribute__((always_inline)) inline T __shfl_down_sync(unsigned mask, T value, unsigned distance,
                                                         int width = warpSize) {
  const unsigned lane = tessera::lens::lane_number(), w = static_cast<unsigned>(width);
  return tessera::lens::shuffle(mask, value, lane % w + distance >= w ? lane : lane + distance);
}
__attribute__((always_inline)) inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return tessera::lens::ballot(mask, predicate != 0);
}
__attribute__((always_inline)) inline int __any_sync(unsigned mask, int predicate) {
  return tessera::lens::ballot(mask, predicate != 0) != 0;
}
__attribute__((always_inline)) inline int __all_sync(unsigned mask, int predicate) {
  return tessera::lens::ballot(mask, predicate == 0) == 0;
}
inline unsigned __activemask() { return tessera::lens::active_lanes(); }

inline void __trap() { tessera::lens::unsupported("__trap()"); }

inline std::size_t __cvta_generic_to_shared(const void* at) { return tessera::lens::shared_offset(at); }
inline void* __cvta_shared_to_generic(std::size_t offset) {
  return tessera::lens::shared_address(static_cast<unsigned>(offset));
}
