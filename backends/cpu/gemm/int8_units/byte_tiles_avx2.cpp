/// Bytes by AVX2: both are widened to 16 bits, whose products are added in pairs. The instruction that multiplies bytes
/// themselves saturates.

#include <immintrin.h>

#include "byte_tiles.hpp"

namespace tessera::cpu::int8_units {
namespace {

constexpr Index rows_each = 4, cols_each = 2;
constexpr Index step = 16; ///< k of a vector of 16-bit numbers

__m256i widened_a(const std::uint8_t* x) {
  return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
}
__m256i widened_b(const std::uint8_t* x) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
}
std::int32_t total(__m256i x) {
  __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1)));
}

/// Adds the products of some lines to the sums.
void multiply_lines(const std::uint8_t* a, const std::uint8_t* b, Index tiles, std::int32_t* sums, Index ld,
                    bool first) {
  __m256i lanes[rows_each][cols_each];
  for (auto& row : lanes)
    for (__m256i& x : row) x = _mm256_setzero_si256();
  for (; tiles > 0; --tiles, a += tile_bytes, b += tile_bytes)
    for (Index p = 0; p < tile_k; p += step) {
      __m256i column[cols_each];
      for (Index j = 0; j < cols_each; ++j) column[j] = widened_b(b + j * tile_k + p);
      for (Index i = 0; i < rows_each; ++i) {
        const __m256i row = widened_a(a + i * tile_k + p);
        for (Index j = 0; j < cols_each; ++j)
          lanes[i][j] = _mm256_add_epi32(lanes[i][j], _mm256_madd_epi16(row, column[j]));
      }
    }
  for (Index i = 0; i < rows_each; ++i)
    for (Index j = 0; j < cols_each; ++j) sums[i * ld + j] = (first ? 0 : sums[i * ld + j]) + total(lanes[i][j]);
}

void multiply(const Run& a, const Run& b, const Sums& sums, bool first, const Ahead&) {
  for (Index j = 0; j < sums.cols; j += cols_each)
    for (Index i = 0; i < sums.rows; i += rows_each)
      multiply_lines(a.line(i), b.line(j), a.tiles, sums.data + i * sums.ld + j, sums.ld, first);
}

} // namespace

const ByteKernel avx2_bytes{"avx2", false, multiply};

} // namespace tessera::cpu::int8_units
