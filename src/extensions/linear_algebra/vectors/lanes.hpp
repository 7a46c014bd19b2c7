#pragma once

/// Sums of one chunk, and the largest of some magnitudes, in vectors of 32 bytes: the 32 lanes of a sum stay in
/// registers, also of few numbers.

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "chunks.hpp"
#include "wide.hpp"

namespace tessera::vectors {

/// Magnitudes as integers, in their order: every NaN is above Inf.
template <class R>
using Key = std::conditional_t<sizeof(R) == 4, std::int32_t, std::int64_t>;

#if TESSERA_HAS_WIDE

enum class Summand { Product, Magnitude };

TESSERA_WIDE_CODE __m256 sum_of(__m256 x, __m256 y) { return _mm256_add_ps(x, y); }
TESSERA_WIDE_CODE __m256d sum_of(__m256d x, __m256d y) { return _mm256_add_pd(x, y); }
TESSERA_WIDE_CODE __m256 magnitude_of(__m256 x) { return _mm256_andnot_ps(spread(-0.0f), x); }
TESSERA_WIDE_CODE __m256d magnitude_of(__m256d x) { return _mm256_andnot_pd(spread(-0.0), x); }

/// The lanes fold: 32 became the width of a vector by additions of vectors.
TESSERA_WIDE_CODE double fold_vector(__m256d x) {
  const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
  return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}
TESSERA_WIDE_CODE float fold_vector(__m256 x) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}

template <Summand summand, class R>
TESSERA_WIDE_CODE WideOf<R> added_to(WideOf<R> lane, WideOf<R> x, WideOf<R> y) {
  if constexpr (summand == Summand::Product)
    return fused(x, y, lane);
  else
    return sum_of(lane, magnitude_of(x));
}

/// The result of a chunk of n numbers. `y` is not read where the summands are magnitudes.
template <Summand summand, class R>
TESSERA_WIDE_CODE R chunk_of(Index n, const R* x, const R* y) {
  constexpr int w = wide_numbers<R>, vectors = lanes / w;
  WideOf<R> lane[vectors];
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v) lane[v] = spread(R{0});
  for (; n >= lanes; n -= lanes, x += lanes, y += lanes)
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) lane[v] = added_to<summand, R>(lane[v], load(x + v * w), load(y + v * w));
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v) {
    const Index rest = n - v * w;
    if (rest <= 0) break;
    const __m256i mask = mask_of_first<R>(rest);
    lane[v] = chosen(mask, added_to<summand, R>(lane[v], load_masked(x + v * w, mask), load_masked(y + v * w, mask)),
                     lane[v]);
  }
#pragma GCC unroll 8
  for (int half = vectors / 2; half > 0; half /= 2)
#pragma GCC unroll 8
    for (int v = 0; v < half; ++v) lane[v] = sum_of(lane[v], lane[v + half]);
  return fold_vector(lane[0]);
}

TESSERA_WIDE_CODE __m256i bits_of(const float* x) {
  return _mm256_and_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)), _mm256_set1_epi32(0x7FFFFFFF));
}
TESSERA_WIDE_CODE __m256i bits_of(const double* x) {
  return _mm256_and_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)),
                          _mm256_set1_epi64x(0x7FFFFFFFFFFFFFFF));
}
TESSERA_WIDE_CODE __m256i larger_of(__m256i x, __m256i y, float) { return _mm256_max_epi32(x, y); }
TESSERA_WIDE_CODE __m256i larger_of(__m256i x, __m256i y, double) {
  return _mm256_blendv_epi8(y, x, _mm256_cmpgt_epi64(x, y));
}

/// Returns the largest key of n numbers; −1: there are none.
template <class R>
TESSERA_WIDE_CODE Key<R> largest_bits(Index n, const R* x) {
  constexpr int w = wide_numbers<R>, vectors = 4;
  __m256i largest[vectors];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; ++v) largest[v] = _mm256_set1_epi32(-1);
  for (; n >= vectors * w; n -= vectors * w, x += vectors * w)
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) largest[v] = larger_of(bits_of(x + v * w), largest[v], R{});
  for (; n >= w; n -= w, x += w) largest[0] = larger_of(bits_of(x), largest[0], R{});
  largest[0] = larger_of(larger_of(largest[0], largest[1], R{}), larger_of(largest[2], largest[3], R{}), R{});
  alignas(32) Key<R> each[w];
  _mm256_store_si256(reinterpret_cast<__m256i*>(each), largest[0]);
  Key<R> result = each[0];
#pragma GCC unroll 8
  for (int i = 1; i < w; ++i) result = std::max(result, each[i]);
  for (; n > 0; --n, ++x) result = std::max(result, std::bit_cast<Key<R>>(*x) & std::numeric_limits<Key<R>>::max());
  return result;
}

/// Returns the first place, from 0 on, of the key; or of any NaN's where the key is above Inf. There is one.
template <class R>
TESSERA_WIDE_CODE Index first_place(const R* x, Index n, Key<R> key) {
  constexpr auto infinity = std::bit_cast<Key<R>>(std::numeric_limits<R>::infinity());
  const Key<R> below = key > infinity ? infinity : key - 1; // no number has a key between this one and the largest
  constexpr int w = wide_numbers<R>;
  Index place = 0;
  for (; place + w <= n; place += w) {
    const __m256i bits = bits_of(x + place);
    int found;
    if constexpr (sizeof(R) == 4)
      found = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(bits, _mm256_set1_epi32(below))));
    else
      found = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(bits, _mm256_set1_epi64x(below))));
    if (found != 0) return place + std::countr_zero(static_cast<unsigned>(found));
  }
  while ((std::bit_cast<Key<R>>(x[place]) & std::numeric_limits<Key<R>>::max()) <= below) ++place;
  return place;
}

#endif

} // namespace tessera::vectors
