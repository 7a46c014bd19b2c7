/// Micro-kernels for AVX-512. 14 rows of two vectors fill 28 of the 32 registers; two more hold B and one A.

#include "cpu/gemm/common/avx512_intrinsics.hpp"

#include "microkernel_body.hpp"
#include "transpose_256.hpp"

namespace tessera::cpu {
namespace {

/// Half a vector of f32. Where the end of a row needs no more, processors whose vector units have half the width take
/// half the time.
struct HalfF32 {
  using T = float;
  using Vector = __m256;
  using Mask = __mmask8;
  static constexpr int lanes = 8;
  static constexpr int registers = 32;
  static Vector zero() { return _mm256_setzero_ps(); }
  static Vector half_of(__m512 v) { return _mm512_castps512_ps256(v); }
  static Vector broadcast_once(const T* x) { return _mm256_set1_ps(*x); }
  static Vector fma(Vector x, Vector y, Vector z) { return _mm256_fmadd_ps(x, y, z); }
  static Mask mask(int count) { return static_cast<Mask>((1u << count) - 1); }
  static void keep_mask(Mask mask) { asm volatile("" ::"Yk"(mask)); }
  static Vector load_part(const T* x, Mask mask) { return _mm256_maskz_loadu_ps(mask, x); }
  static void store_part(T* x, Mask mask, Vector v) { _mm256_mask_storeu_ps(x, mask, v); }
  static Vector load(const T* x) { return _mm256_load_ps(x); }
  static Vector load_unaligned(const T* x) { return _mm256_loadu_ps(x); }
  static void store(T* x, Vector v) { _mm256_storeu_ps(x, v); }
  static void keep(Vector& v) { asm("" : "+v"(v)); }
  static void transpose(Vector (&v)[lanes]) { Transpose256<HalfF32>::turn(v); }
};
/// Half a vector of f64.
struct HalfF64 {
  using T = double;
  using Vector = __m256d;
  using Mask = __mmask8;
  static constexpr int lanes = 4;
  static constexpr int registers = 32;
  static Vector zero() { return _mm256_setzero_pd(); }
  static Vector half_of(__m512d v) { return _mm512_castpd512_pd256(v); }
  static Vector broadcast_once(const T* x) { return _mm256_set1_pd(*x); }
  static Vector fma(Vector x, Vector y, Vector z) { return _mm256_fmadd_pd(x, y, z); }
  static Mask mask(int count) { return static_cast<Mask>((1u << count) - 1); }
  static void keep_mask(Mask mask) { asm volatile("" ::"Yk"(mask)); }
  static Vector load_part(const T* x, Mask mask) { return _mm256_maskz_loadu_pd(mask, x); }
  static void store_part(T* x, Mask mask, Vector v) { _mm256_mask_storeu_pd(x, mask, v); }
  static Vector load(const T* x) { return _mm256_load_pd(x); }
  static Vector load_unaligned(const T* x) { return _mm256_loadu_pd(x); }
  static void store(T* x, Vector v) { _mm256_storeu_pd(x, v); }
  static void keep(Vector& v) { asm("" : "+v"(v)); }
  static void transpose(Vector (&v)[lanes]) { Transpose256<HalfF64>::turn(v); }
};

struct F32 {
  using T = float;
  using Half = HalfF32;
  using Vector = __m512;
  static constexpr int lanes = 16;
  static constexpr int registers = 32;
  static constexpr int tile_m = 14;
  static constexpr int vectors = 2;
  static constexpr int complex_rows = 14;
  static constexpr bool prefetches_strips = true;
  static Vector zero() { return _mm512_setzero_ps(); }
  static Vector one() { return _mm512_set1_ps(1.0f); }
  static Vector load(const T* x) { return _mm512_load_ps(x); }
  /// For an element that one multiply-add reads: the compiler makes the load a part of it.
  static Vector broadcast_once(const T* x) { return _mm512_set1_ps(*x); }
  /// Without `keep`, gcc folds the load into each multiply-add and reads the element twice.
  static Vector broadcast(const T* x) {
    Vector v = broadcast_once(x);
    keep(v);
    return v;
  }
  static Vector fma(Vector x, Vector y, Vector z) { return _mm512_fmadd_ps(x, y, z); }
  static Vector subtract_product(Vector x, Vector y, Vector z) { return _mm512_fnmadd_ps(x, y, z); }
  static Vector add(Vector x, Vector y) { return _mm512_add_ps(x, y); }
  static void store(T* x, Vector v) { _mm512_storeu_ps(x, v); }
  static Vector load_unaligned(const T* x) { return _mm512_loadu_ps(x); }
  using Mask = __mmask16;
  static Mask mask(int count) { return static_cast<Mask>((1u << count) - 1); }
  static void keep_mask(Mask mask) { asm volatile("" ::"Yk"(mask)); }
  static Vector load_part(const T* x, Mask mask) { return _mm512_maskz_loadu_ps(mask, x); }
  static void store_part(T* x, Mask mask, Vector v) { _mm512_mask_storeu_ps(x, mask, v); }
  static void keep(Vector& v) { asm("" : "+v"(v)); }
  /// Turns sixteen rows into sixteen columns: exchanges pairs, then fours, of elements within the quarters, then the
  /// quarters.
  static void transpose(Vector (&v)[lanes]) {
    Vector pairs[lanes];
#pragma GCC unroll 8
    for (int r = 0; r < lanes; r += 2) {
      pairs[r] = _mm512_unpacklo_ps(v[r], v[r + 1]);
      pairs[r + 1] = _mm512_unpackhi_ps(v[r], v[r + 1]);
    }
    Vector fours[lanes]; // fours[4g + c] has column c of each quarter, rows 4g to 4g + 3
#pragma GCC unroll 4
    for (int g = 0; g < lanes; g += 4)
#pragma GCC unroll 2
      for (int h = 0; h < 2; ++h) {
        fours[g + 2 * h] = _mm512_shuffle_ps(pairs[g + h], pairs[g + h + 2], 0x44);
        fours[g + 2 * h + 1] = _mm512_shuffle_ps(pairs[g + h], pairs[g + h + 2], 0xee);
      }
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) {
      const Vector even_low = _mm512_shuffle_f32x4(fours[c], fours[c + 4], 0x88);
      const Vector odd_low = _mm512_shuffle_f32x4(fours[c], fours[c + 4], 0xdd);
      const Vector even_high = _mm512_shuffle_f32x4(fours[c + 8], fours[c + 12], 0x88);
      const Vector odd_high = _mm512_shuffle_f32x4(fours[c + 8], fours[c + 12], 0xdd);
      v[c] = _mm512_shuffle_f32x4(even_low, even_high, 0x88);
      v[c + 8] = _mm512_shuffle_f32x4(even_low, even_high, 0xdd);
      v[c + 4] = _mm512_shuffle_f32x4(odd_low, odd_high, 0x88);
      v[c + 12] = _mm512_shuffle_f32x4(odd_low, odd_high, 0xdd);
    }
  }
};

struct F64 {
  using T = double;
  using Half = HalfF64;
  using Vector = __m512d;
  static constexpr int lanes = 8;
  static constexpr int registers = 32;
  static constexpr int tile_m = 14;
  static constexpr int vectors = 2;
  static constexpr int complex_rows = 14;
  static constexpr bool prefetches_strips = true;
  static Vector zero() { return _mm512_setzero_pd(); }
  static Vector one() { return _mm512_set1_pd(1.0); }
  static Vector load(const T* x) { return _mm512_load_pd(x); }
  static Vector broadcast_once(const T* x) { return _mm512_set1_pd(*x); }
  static Vector broadcast(const T* x) {
    Vector v = broadcast_once(x);
    keep(v);
    return v;
  }
  static Vector fma(Vector x, Vector y, Vector z) { return _mm512_fmadd_pd(x, y, z); }
  static Vector subtract_product(Vector x, Vector y, Vector z) { return _mm512_fnmadd_pd(x, y, z); }
  static Vector add(Vector x, Vector y) { return _mm512_add_pd(x, y); }
  static void store(T* x, Vector v) { _mm512_storeu_pd(x, v); }
  static Vector load_unaligned(const T* x) { return _mm512_loadu_pd(x); }
  using Mask = __mmask8;
  static Mask mask(int count) { return static_cast<Mask>((1u << count) - 1); }
  static void keep_mask(Mask mask) { asm volatile("" ::"Yk"(mask)); }
  static Vector load_part(const T* x, Mask mask) { return _mm512_maskz_loadu_pd(mask, x); }
  static void store_part(T* x, Mask mask, Vector v) { _mm512_mask_storeu_pd(x, mask, v); }
  static void keep(Vector& v) { asm("" : "+v"(v)); }
  /// Turns eight rows into eight columns: exchanges pairs within the quarters, then the quarters.
  static void transpose(Vector (&v)[lanes]) {
    Vector pairs[lanes]; // pairs[2g + c] has column c of each quarter, rows 2g and 2g + 1
#pragma GCC unroll 4
    for (int r = 0; r < lanes; r += 2) {
      pairs[r] = _mm512_unpacklo_pd(v[r], v[r + 1]);
      pairs[r + 1] = _mm512_unpackhi_pd(v[r], v[r + 1]);
    }
#pragma GCC unroll 2
    for (int c = 0; c < 2; ++c) {
      const Vector even_low = _mm512_shuffle_f64x2(pairs[c], pairs[c + 2], 0x88);
      const Vector odd_low = _mm512_shuffle_f64x2(pairs[c], pairs[c + 2], 0xdd);
      const Vector even_high = _mm512_shuffle_f64x2(pairs[c + 4], pairs[c + 6], 0x88);
      const Vector odd_high = _mm512_shuffle_f64x2(pairs[c + 4], pairs[c + 6], 0xdd);
      v[c] = _mm512_shuffle_f64x2(even_low, even_high, 0x88);
      v[c + 4] = _mm512_shuffle_f64x2(even_low, even_high, 0xdd);
      v[c + 2] = _mm512_shuffle_f64x2(odd_low, odd_high, 0x88);
      v[c + 6] = _mm512_shuffle_f64x2(odd_low, odd_high, 0xdd);
    }
  }
};

constexpr MicroKernel<float> c32 = ComplexBody<F32>::kernel(Isa::Avx512);
constexpr MicroKernel<double> c64 = ComplexBody<F64>::kernel(Isa::Avx512);
constexpr MicroKernel<float> f32 = MicroKernelBody<F32>::kernel(Isa::Avx512, &c32);
constexpr MicroKernel<double> f64 = MicroKernelBody<F64>::kernel(Isa::Avx512, &c64);

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
