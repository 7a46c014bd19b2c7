#pragma once

/// The lens' cuda_bf16.h: __nv_bfloat16 as storage, and its conversions and sums.

#include "cuda_runtime_api.h"
#include "tessera_lens/small_floats.hpp"

using __nv_bfloat16 = tessera::lens::SmallFloat<tessera::lens::Bfloat16Bits>;
struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
};
inline __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
inline __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
inline float __bfloat162float(__nv_bfloat16 x) { return static_cast<float>(x); }
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {__nv_bfloat16(x), __nv_bfloat16(y)}; }
