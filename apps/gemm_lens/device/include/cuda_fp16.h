#pragma once

/// The lens' cuda_fp16.h: __half as storage, and its conversions and sums.

#include "cuda_runtime_api.h"
#include "tessera_lens/small_floats.hpp"

using __half = tessera::lens::SmallFloat<tessera::lens::HalfBits>;
using half = __half;
struct alignas(4) __half2 {
  __half x, y;
};
using half2 = __half2;
inline __half __float2half(float x) { return __half(x); }
inline __half __float2half_rn(float x) { return __half(x); }
inline float __half2float(__half x) { return static_cast<float>(x); }
inline __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
inline float __low2float(__half2 v) { return static_cast<float>(v.x); }
inline float __high2float(__half2 v) { return static_cast<float>(v.y); }
inline __half __hadd(__half x, __half y) { return __half(static_cast<float>(x) + static_cast<float>(y)); }
inline __half __hmul(__half x, __half y) { return __half(static_cast<float>(x) * static_cast<float>(y)); }
inline __half __hfma(__half x, __half y, __half z) {
  return __half(static_cast<float>(static_cast<double>(x) * static_cast<double>(y) + static_cast<double>(z)));
}
