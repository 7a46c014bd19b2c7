/// Micro-kernels for AVX2 with FMA. 6 rows of two vectors fill 12 of the 16 registers; two more hold B and one A.

#include <immintrin.h>

#include "microkernel_body.hpp"

namespace tessera::cpu {
namespace {

struct F32 {
  using T = float;
  using Vector = __m256;
  static constexpr int lanes = 8;
  static constexpr int registers = 16;
  static constexpr int tile_m = 6;
  static constexpr int vectors = 2;
  static Vector zero() { return _mm256_setzero_ps(); }
  static Vector one() { return _mm256_set1_ps(1.0f); }
  static Vector load(const T* x) { return _mm256_load_ps(x); }
  static Vector broadcast_once(const T* x) { return _mm256_set1_ps(*x); }
  /// Without `keep`, gcc folds the load into each multiply-add and reads the element twice.
  static Vector broadcast(const T* x) {
    Vector v = broadcast_once(x);
    keep(v);
    return v;
  }
  static Vector fma(Vector x, Vector y, Vector z) { return _mm256_fmadd_ps(x, y, z); }
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
  /// Turns eight rows into eight columns: exchanges pairs, then fours, of elements within the halves, then the halves.
  static void transpose(Vector (&v)[lanes]) {
    Vector pairs[lanes];
#pragma GCC unroll 4
    for (int r = 0; r < lanes; r += 2) {
      pairs[r] = _mm256_unpacklo_ps(v[r], v[r + 1]);
      pairs[r + 1] = _mm256_unpackhi_ps(v[r], v[r + 1]);
    }
    Vector fours[lanes]; // fours[4g + c] has column c of each half, rows 4g to 4g + 3
#pragma GCC unroll 2
    for (int g = 0; g < lanes; g += 4)
#pragma GCC unroll 2
      for (int h = 0; h < 2; ++h) {
        fours[g + 2 * h] = _mm256_shuffle_ps(pairs[g + h], pairs[g + h + 2], 0x44);
        fours[g + 2 * h + 1] = _mm256_shuffle_ps(pairs[g + h], pairs[g + h + 2], 0xee);
      }
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) {
      v[c] = _mm256_permute2f128_ps(fours[c], fours[c + 4], 0x20);
      v[c + 4] = _mm256_permute2f128_ps(fours[c], fours[c + 4], 0x31);
    }
  }
};

struct F64 {
  using T = double;
  using Vector = __m256d;
  static constexpr int lanes = 4;
  static constexpr int registers = 16;
  static constexpr int tile_m = 6;
  static constexpr int vectors = 2;
  static Vector zero() { return _mm256_setzero_pd(); }
  static Vector one() { return _mm256_set1_pd(1.0); }
  static Vector load(const T* x) { return _mm256_load_pd(x); }
  static Vector broadcast_once(const T* x) { return _mm256_set1_pd(*x); }
  static Vector broadcast(const T* x) {
    Vector v = broadcast_once(x);
    keep(v);
    return v;
  }
  static Vector fma(Vector x, Vector y, Vector z) { return _mm256_fmadd_pd(x, y, z); }
  static Vector add(Vector x, Vector y) { return _mm256_add_pd(x, y); }
  static void store(T* x, Vector v) { _mm256_storeu_pd(x, v); }
  static Vector load_unaligned(const T* x) { return _mm256_loadu_pd(x); }
  using Mask = __m256i;
  static Mask mask(int count) { return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3)); }
  static void keep_mask(Mask& mask) { asm("" : "+x"(mask)); }
  static Vector load_part(const T* x, Mask mask) { return _mm256_maskload_pd(x, mask); }
  static void store_part(T* x, Mask mask, Vector v) { _mm256_maskstore_pd(x, mask, v); }
  static void keep(Vector& v) { asm("" : "+x"(v)); }
  /// Turns four rows into four columns: exchanges pairs within the halves, then the halves.
  static void transpose(Vector (&v)[lanes]) {
    const Vector even_low = _mm256_unpacklo_pd(v[0], v[1]);
    const Vector odd_low = _mm256_unpackhi_pd(v[0], v[1]);
    const Vector even_high = _mm256_unpacklo_pd(v[2], v[3]);
    const Vector odd_high = _mm256_unpackhi_pd(v[2], v[3]);
    v[0] = _mm256_permute2f128_pd(even_low, even_high, 0x20);
    v[1] = _mm256_permute2f128_pd(odd_low, odd_high, 0x20);
    v[2] = _mm256_permute2f128_pd(even_low, even_high, 0x31);
    v[3] = _mm256_permute2f128_pd(odd_low, odd_high, 0x31);
  }
};

constexpr MicroKernel<float> f32 = MicroKernelBody<F32>::kernel(Isa::Avx2);
constexpr MicroKernel<double> f64 = MicroKernelBody<F64>::kernel(Isa::Avx2);

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
