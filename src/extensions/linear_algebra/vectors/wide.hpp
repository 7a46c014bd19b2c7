#pragma once

/// Vectors of 32 bytes for processors with AVX2 and FMA, and a step of chains in them, for real and complex numbers. A
/// function that uses them has TESSERA_WIDE_CODE, or TESSERA_WIDE_ENTRY where others call it.

#include <cmath>

#include "strided.hpp"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TESSERA_HAS_WIDE 1
#include <immintrin.h>
#else
#define TESSERA_HAS_WIDE 0
#endif

namespace tessera::vectors {

#if TESSERA_HAS_WIDE

inline bool has_wide() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has;
}

/// Does one column of so many bytes take no longer in vectors of 32 bytes than in the longest ones of the processor?
inline bool takes_wide(Index bytes) {
  static const bool has_longer = __builtin_cpu_supports("avx512f");
  constexpr Index few_bytes = 2048;
  return has_wide() && (bytes <= few_bytes || !has_longer);
}

#define TESSERA_WIDE_CODE [[gnu::target("avx2,fma"), gnu::always_inline]] inline
#define TESSERA_WIDE_ENTRY [[gnu::target("avx2,fma"), gnu::noinline]]

template <class R>
struct Wide;
template <>
struct Wide<float> {
  using Type = __m256;
};
template <>
struct Wide<double> {
  using Type = __m256d;
};
template <class N>
using WideOf = typename Wide<RealOf<N>>::Type;
/// How many numbers a vector holds.
template <class N>
inline constexpr int wide_numbers = 32 / static_cast<int>(sizeof(N));

TESSERA_WIDE_CODE __m256 load(const float* x) { return _mm256_loadu_ps(x); }
TESSERA_WIDE_CODE __m256d load(const double* x) { return _mm256_loadu_pd(x); }
TESSERA_WIDE_CODE void store(float* to, __m256 x) { _mm256_storeu_ps(to, x); }
TESSERA_WIDE_CODE void store(double* to, __m256d x) { _mm256_storeu_pd(to, x); }
TESSERA_WIDE_CODE __m256 spread(float x) { return _mm256_set1_ps(x); }
TESSERA_WIDE_CODE __m256d spread(double x) { return _mm256_set1_pd(x); }
TESSERA_WIDE_CODE __m256 fused(__m256 a, __m256 b, __m256 c) { return _mm256_fmadd_ps(a, b, c); }
TESSERA_WIDE_CODE __m256d fused(__m256d a, __m256d b, __m256d c) { return _mm256_fmadd_pd(a, b, c); }
TESSERA_WIDE_CODE __m256 chosen(__m256i mask, __m256 yes, __m256 no) {
  return _mm256_blendv_ps(no, yes, _mm256_castsi256_ps(mask));
}
TESSERA_WIDE_CODE __m256d chosen(__m256i mask, __m256d yes, __m256d no) {
  return _mm256_blendv_pd(no, yes, _mm256_castsi256_pd(mask));
}

/// A mask of a vector's first `count` numbers: of none where count ≤ 0, and of all where it is large.
template <class N>
TESSERA_WIDE_CODE __m256i mask_of_first(Index count) {
  alignas(32) static constexpr int ones_and_zeros[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
  constexpr Index words = static_cast<Index>(sizeof(N)) / 4;
  return _mm256_loadu_si256(
      reinterpret_cast<const __m256i*>(ones_and_zeros + (8 - std::clamp<Index>(count, 0, wide_numbers<N>) * words)));
}
TESSERA_WIDE_CODE __m256 load_masked(const float* x, __m256i mask) { return _mm256_maskload_ps(x, mask); }
TESSERA_WIDE_CODE __m256d load_masked(const double* x, __m256i mask) { return _mm256_maskload_pd(x, mask); }

TESSERA_WIDE_CODE void store_masked(float* to, __m256i mask, __m256 x) { _mm256_maskstore_ps(to, mask, x); }
TESSERA_WIDE_CODE void store_masked(double* to, __m256i mask, __m256d x) { _mm256_maskstore_pd(to, mask, x); }

TESSERA_WIDE_CODE __m256 real_parts(__m256 a) { return _mm256_moveldup_ps(a); }
TESSERA_WIDE_CODE __m256d real_parts(__m256d a) { return _mm256_movedup_pd(a); }
TESSERA_WIDE_CODE __m256 imaginary_parts(__m256 a) { return _mm256_movehdup_ps(a); }
TESSERA_WIDE_CODE __m256d imaginary_parts(__m256d a) { return _mm256_permute_pd(a, 0xF); }
/// A complex number over and over.
TESSERA_WIDE_CODE __m256 spread(const ComplexNumber<float>& x) {
  double both;
  __builtin_memcpy(&both, &x, sizeof both);
  return _mm256_castpd_ps(_mm256_set1_pd(both));
}
TESSERA_WIDE_CODE __m256d spread(const ComplexNumber<double>& x) {
  return _mm256_broadcast_pd(reinterpret_cast<const __m128d*>(&x));
}
/// The signs of (−x, y) over and over, or of (x, −y).
TESSERA_WIDE_CODE __m256d signs_of(double, bool second) {
  return second ? _mm256_setr_pd(0.0, -0.0, 0.0, -0.0) : _mm256_setr_pd(-0.0, 0.0, -0.0, 0.0);
}
TESSERA_WIDE_CODE __m256 signs_of(float, bool second) {
  return second ? _mm256_setr_ps(0.0f, -0.0f, 0.0f, -0.0f, 0.0f, -0.0f, 0.0f, -0.0f)
                : _mm256_setr_ps(-0.0f, 0.0f, -0.0f, 0.0f, -0.0f, 0.0f, -0.0f, 0.0f);
}
/// Pairs (x, y) become (y, x).
TESSERA_WIDE_CODE __m256 exchanged(__m256 a) { return _mm256_permute_ps(a, 0xB1); }
TESSERA_WIDE_CODE __m256d exchanged(__m256d a) { return _mm256_permute_pd(a, 0x5); }
TESSERA_WIDE_CODE __m256 with_signs(__m256 a, __m256 signs) { return _mm256_xor_ps(a, signs); }
TESSERA_WIDE_CODE __m256d with_signs(__m256d a, __m256d signs) { return _mm256_xor_pd(a, signs); }

/// What the elements of a column, or of a row, are multiplied by: x, or what re and im of an element are, so that the
/// elements may be conjugated.
template <class N>
struct Times {
  WideOf<N> x;
};
template <class R>
struct Times<ComplexNumber<R>> {
  WideOf<R> straight, turned;
};
template <class R>
TESSERA_WIDE_CODE Times<R> times(const R& x, bool) {
  return {spread(x)};
}
template <class R>
TESSERA_WIDE_CODE Times<ComplexNumber<R>> times(const ComplexNumber<R>& x, bool conjugated) {
  const WideOf<R> straight = spread(x);
  return {straight, with_signs(exchanged(straight), signs_of(R{}, conjugated))};
}

/// The contract's step of a vector of chains, whose complex parts lie side by side.
template <class R>
TESSERA_WIDE_CODE WideOf<R> step(const Times<R>& by, WideOf<R> a, WideOf<R> chain) {
  return fused(a, by.x, chain);
}
template <class R>
TESSERA_WIDE_CODE WideOf<R> step(const Times<ComplexNumber<R>>& by, WideOf<R> a, WideOf<R> chain) {
  return fused(imaginary_parts(a), by.turned, fused(real_parts(a), by.straight, chain));
}
/// The same of one chain; a may be conjugated.
template <class R>
TESSERA_WIDE_CODE void add_term(R& chain, R a, R x, bool) {
  chain = std::fma(a, x, chain);
}
template <class R>
TESSERA_WIDE_CODE void add_term(ComplexNumber<R>& chain, const ComplexNumber<R>& a, const ComplexNumber<R>& x,
                                bool conjugated) {
  const R im = conjugated ? -a.im : a.im;
  chain.re = std::fma(im, -x.im, std::fma(a.re, x.re, chain.re));
  chain.im = std::fma(im, x.re, std::fma(a.re, x.im, chain.im));
}

#else

constexpr bool has_wide() { return false; }
constexpr bool takes_wide(Index) { return false; }

#endif

} // namespace tessera::vectors
