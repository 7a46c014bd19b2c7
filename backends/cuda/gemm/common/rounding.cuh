#pragma once

/// Rounding to tf32 and to results of f32 or 16 bits.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace tessera::cuda {

/// An f32 operand as the matrix units take it in tf32.
__device__ inline unsigned rounded_to_tf32(float x) {
#if __CUDA_ARCH__ >= 800
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
#else
  return __float_as_uint(x); // these rows are rejected there
#endif
}

/// A result's type: rounded to, widened from.
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
