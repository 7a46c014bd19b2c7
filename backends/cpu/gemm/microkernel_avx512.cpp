/// Micro-kernels for AVX-512: 14 rows of two vectors fill 28 of the 32 registers; two more hold B and one A.

#include <immintrin.h>

#include "cpu/gemm/microkernel_body.hpp"

namespace tessera::cpu {
namespace {

struct F32 {
  using T = float;
  using Vector = __m512;
  static constexpr int lanes = 16;
  static constexpr int registers = 32;
  static constexpr int tile_m = 14;
  static constexpr int vectors = 2;
  static Vector zero() { return _mm512_setzero_ps(); }
  static Vector one() { return _mm512_set1_ps(1.0f); }
  static Vector load(const T* x) { return _mm512_load_ps(x); }
  /// Without keep, gcc folds the load into each multiply-add and reads the element twice.
  static Vector broadcast(const T* x) {
    Vector v = _mm512_set1_ps(*x);
    keep(v);
    return v;
  }
  static Vector fma(Vector x, Vector y, Vector z) { return _mm512_fmadd_ps(x, y, z); }
  static void store(T* x, Vector v) { _mm512_storeu_ps(x, v); }
  static Vector load_unaligned(const T* x) { return _mm512_loadu_ps(x); }
  using Mask = __mmask16;
  static Mask mask(int count) { return static_cast<Mask>((1u << count) - 1); }
  static Vector load_part(const T* x, Mask mask) { return _mm512_maskz_loadu_ps(mask, x); }
  static void store_part(T* x, Mask mask, Vector v) { _mm512_mask_storeu_ps(x, mask, v); }
  static void keep(Vector& v) { asm("" : "+v"(v)); }
};

struct F64 {
  using T = double;
  using Vector = __m512d;
  static constexpr int lanes = 8;
  static constexpr int registers = 32;
  static constexpr int tile_m = 14;
  static constexpr int vectors = 2;
  static Vector zero() { return _mm512_setzero_pd(); }
  static Vector one() { return _mm512_set1_pd(1.0); }
  static Vector load(const T* x) { return _mm512_load_pd(x); }
  static Vector broadcast(const T* x) {
    Vector v = _mm512_set1_pd(*x);
    keep(v);
    return v;
  }
  static Vector fma(Vector x, Vector y, Vector z) { return _mm512_fmadd_pd(x, y, z); }
  static void store(T* x, Vector v) { _mm512_storeu_pd(x, v); }
  static Vector load_unaligned(const T* x) { return _mm512_loadu_pd(x); }
  using Mask = __mmask8;
  static Mask mask(int count) { return static_cast<Mask>((1u << count) - 1); }
  static Vector load_part(const T* x, Mask mask) { return _mm512_maskz_loadu_pd(mask, x); }
  static void store_part(T* x, Mask mask, Vector v) { _mm512_mask_storeu_pd(x, mask, v); }
  static void keep(Vector& v) { asm("" : "+v"(v)); }
};

constexpr MicroKernel<float> f32 = MicroKernelBody<F32>::kernel(Isa::Avx512);
constexpr MicroKernel<double> f64 = MicroKernelBody<F64>::kernel(Isa::Avx512);

} // namespace

template <>
const MicroKernel<float>& avx512_micro_kernel() {
  return f32;
}
template <>
const MicroKernel<double>& avx512_micro_kernel() {
  return f64;
}

} // namespace tessera::cpu
