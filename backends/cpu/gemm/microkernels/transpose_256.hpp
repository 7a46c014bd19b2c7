#pragma once

/// Transposes in registers of 256 bits, which AVX2 and the half vectors of AVX-512 share.
///
/// `Owner` is a type of the file that includes this header; see packing.hpp.

#include <immintrin.h>

namespace tessera::cpu {

template <class Owner>
struct Transpose256 {
  /// Turns eight rows into eight columns: exchanges pairs, then fours, of elements within the halves, then the halves.
  static void turn(__m256 (&v)[8]) {
    __m256 pairs[8];
#pragma GCC unroll 4
    for (int r = 0; r < 8; r += 2) {
      pairs[r] = _mm256_unpacklo_ps(v[r], v[r + 1]);
      pairs[r + 1] = _mm256_unpackhi_ps(v[r], v[r + 1]);
    }
    __m256 fours[8]; // fours[4g + c] has column c of each half, rows 4g to 4g + 3
#pragma GCC unroll 2
    for (int g = 0; g < 8; g += 4)
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

  /// Turns four rows into four columns: exchanges pairs within the halves, then the halves.
  static void turn(__m256d (&v)[4]) {
    const __m256d even_low = _mm256_unpacklo_pd(v[0], v[1]);
    const __m256d odd_low = _mm256_unpackhi_pd(v[0], v[1]);
    const __m256d even_high = _mm256_unpacklo_pd(v[2], v[3]);
    const __m256d odd_high = _mm256_unpackhi_pd(v[2], v[3]);
    v[0] = _mm256_permute2f128_pd(even_low, even_high, 0x20);
    v[1] = _mm256_permute2f128_pd(odd_low, odd_high, 0x20);
    v[2] = _mm256_permute2f128_pd(even_low, even_high, 0x31);
    v[3] = _mm256_permute2f128_pd(odd_low, odd_high, 0x31);
  }
};

} // namespace tessera::cpu
