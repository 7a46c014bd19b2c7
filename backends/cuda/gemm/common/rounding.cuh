#pragma once

/// Rounding to tf32, and to results in f32 or in 16 bits.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace tessera::cuda {

/// Returns the bits of x rounded to tf32, as the matrix units take them.
__device__ inline unsigned rounded_to_tf32(float x) {
#if __CUDA_ARCH__ >= 800
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
#else
  return __float_as_uint(x); // kernels that use tf32 reject such devices
#endif
}

/// Conversions of a result's type R: `round` rounds an f32 number to it, `value` widens it, `pair` rounds two numbers
/// and packs them.
template <class R>
struct Rounding;
template <>
struct Rounding<float> {
  static __device__ float round(float x) { return x; }
  static __device__ float value(float x) { return x; }
};
template <>
struct Rounding<__half> {
  static __device__ __half round(float x) { return __float2half_rn(x); }
  static __device__ float value(__half x) { return __half2float(x); }
  static __device__ unsigned pair(float low, float high) {
    const __half2 both = __floats2half2_rn(low, high);
    return reinterpret_cast<const unsigned&>(both);
  }
};
template <>
struct Rounding<__nv_bfloat16> {
  static __device__ __nv_bfloat16 round(float x) { return __float2bfloat16_rn(x); }
  static __device__ float value(__nv_bfloat16 x) { return __bfloat162float(x); }
  static __device__ unsigned pair(float low, float high) {
    const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
    return reinterpret_cast<const unsigned&>(both);
  }
};

} // namespace tessera::cuda
