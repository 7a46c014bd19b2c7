/// Micro-kernels for AVX2 with FMA. 6 rows of two vectors fill 12 of the 16 registers; two more hold B and one A.
///
/// A step has 12 multiply-adds and 8 loads, where AVX-512's has 28 and 16. Three loads more to prefetch the strips cost
/// more than late data (docs/lab/cpu_gemm.md, "Prefetches on AVX2").

#include <immintrin.h>

#include "microkernel_body.hpp"
#include "transpose_256.hpp"

namespace tessera::cpu {
namespace {

struct F32 {
  using T = float;
  using Vector = __m256;
  static constexpr int lanes = 8;
  static constexpr int registers = 16;
  static constexpr int tile_m = 6;
  static constexpr int vectors = 2;
  static constexpr int complex_rows = 6;
  static constexpr bool prefetches_strips = false;
  static Vector zero() { return _mm256_setzero_ps(); }
  static Vector one() { return _mm256_set1_ps(1.0f); }
  static Vector load(const T* x) { return _mm256_load_ps(x); }
  /// Without `keep`, gcc folds the load into each multiply-add and reads the element twice.
  static Vector broadcast(const T* x) {
    Vector v = _mm256_set1_ps(*x);
    keep(v);
    return v;
  }
  static Vector broadcast_once(const T* x) { return broadcast(x); }
  static Vector fma(Vector x, Vector y, Vector z) { return _mm256_fmadd_ps(x, y, z); }
  static Vector subtract_product(Vector x, Vector y, Vector z) { return _mm256_fnmadd_ps(x, y, z); }
  static Vector add(Vector x, Vector y) { return _mm256_add_ps(x, y); }
  static void store(T* x, Vector v) { _mm256_storeu_ps(x, v); }
  static Vector load_unaligned(const T* x) { return _mm256_loadu_ps(x); }
  using Mask = __m256i;
  static Mask mask(int count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  static void keep_mask(Mask& mask) { asm("" : "+x"(mask)); }
  static Vector load_part(const T* x, Mask mask) { return _mm256_maskload_ps(x, mask); }
  static void store_part(T* x, Mask mask, Vector v) { _mm256_maskstore_ps(x, mask, v); }
  static void keep(Vector& v) { asm("" : "+x"(v)); }
  static void transpose(Vector (&v)[lanes]) { Transpose256<F32>::turn(v); }
};

struct F64 {
  using T = double;
  using Vector = __m256d;
  static constexpr int lanes = 4;
  static constexpr int registers = 16;
  static constexpr int tile_m = 6;
  static constexpr int vectors = 2;
  static constexpr int complex_rows = 6;
  static constexpr bool prefetches_strips = false;
  static Vector zero() { return _mm256_setzero_pd(); }
  static Vector one() { return _mm256_set1_pd(1.0); }
  static Vector load(const T* x) { return _mm256_load_pd(x); }
  static Vector broadcast(const T* x) {
    Vector v = _mm256_set1_pd(*x);
    keep(v);
    return v;
  }
  static Vector broadcast_once(const T* x) { return broadcast(x); }
  static Vector fma(Vector x, Vector y, Vector z) { return _mm256_fmadd_pd(x, y, z); }
  static Vector subtract_product(Vector x, Vector y, Vector z) { return _mm256_fnmadd_pd(x, y, z); }
  static Vector add(Vector x, Vector y) { return _mm256_add_pd(x, y); }
  static void store(T* x, Vector v) { _mm256_storeu_pd(x, v); }
  static Vector load_unaligned(const T* x) { return _mm256_loadu_pd(x); }
  using Mask = __m256i;
  static Mask mask(int count) { return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3)); }
  static void keep_mask(Mask& mask) { asm("" : "+x"(mask)); }
  static Vector load_part(const T* x, Mask mask) { return _mm256_maskload_pd(x, mask); }
  static void store_part(T* x, Mask mask, Vector v) { _mm256_maskstore_pd(x, mask, v); }
  static void keep(Vector& v) { asm("" : "+x"(v)); }
  static void transpose(Vector (&v)[lanes]) { Transpose256<F64>::turn(v); }
};

constexpr MicroKernel<float> c32 = ComplexBody<F32>::kernel(Isa::Avx2);
constexpr MicroKernel<double> c64 = ComplexBody<F64>::kernel(Isa::Avx2);
constexpr MicroKernel<float> f32 = MicroKernelBody<F32>::kernel(Isa::Avx2, &c32);
constexpr MicroKernel<double> f64 = MicroKernelBody<F64>::kernel(Isa::Avx2, &c64);

} // namespace

template <>
const MicroKernel<float>& avx2_micro_kernel() {
  return f32;
}
template <>
const MicroKernel<double>& avx2_micro_kernel() {
  return f64;
}

} // namespace tessera::cpu
