/// Compiled for AMX and AVX-512, and used where they are. Intel 64 and IA-32 Architectures Optimization Reference
/// Manual, "Intel Advanced Matrix Extensions".

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized" // gcc 12's own header sets undefined vectors that way
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#include "cpu/gemm/amx_tiles.hpp"

namespace tessera::cpu::amx {
namespace {

constexpr int tile_rows = 16;
constexpr int tile_bytes = 64; // a row: 16 sums, or 32 bf16
constexpr int tile_size = 512; // bf16

struct alignas(64) TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {tile_bytes, tile_bytes, tile_bytes, tile_bytes,
                                 tile_bytes, tile_bytes, tile_bytes, tile_bytes};
  std::uint8_t rows[16] = {tile_rows, tile_rows, tile_rows, tile_rows, tile_rows, tile_rows, tile_rows, tile_rows};
};
static_assert(sizeof(TileConfig) == 64);

void configure() {
  const TileConfig config;
  // Not _tile_loadconfig: gcc 12 believes that it reads eight bytes.
  asm volatile("ldtilecfg %0" ::"m"(config));
}

void release() { _tile_release(); }

// Tiles 0 to 3 hold sums, 4 and 5 rows of A, 6 and 7 columns of B.
inline void load_a(const std::uint16_t* at) {
  _tile_loadd(4, at, tile_bytes);
  _tile_loadd(5, at + tile_size, tile_bytes);
}
inline void load_b(const std::uint16_t* at) {
  _tile_loadd(6, at, tile_bytes);
  _tile_loadd(7, at + tile_size, tile_bytes);
}
inline void add_products() {
  _tile_dpbf16ps(0, 4, 6);
  _tile_dpbf16ps(1, 4, 7);
  _tile_dpbf16ps(2, 5, 6);
  _tile_dpbf16ps(3, 5, 7);
}

void multiply(const std::uint16_t* a, const std::uint16_t* b, float* sums, Index ld, bool first) {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  // In each chunk the six products go in an order that loads 14 tiles for them, not 24, and the largest one comes last.
  for (int k = 0; k < block_k; k += chunk, a += 2 * tile_size, b += 2 * tile_size) {
    load_a(a + 2 * part_size);
    load_b(b);
    add_products(); // low · high
    load_a(a + part_size);
    add_products(); // middle · high
    load_b(b + part_size);
    add_products(); // middle · middle
    load_a(a);
    add_products(); // high · middle
    load_b(b + 2 * part_size);
    add_products(); // high · low
    load_b(b);
    add_products(); // high · high
  }
  alignas(64) float square[side * side];
  constexpr int stride = side * sizeof(float);
  _tile_stored(0, square, stride);
  _tile_stored(1, square + 16, stride);
  _tile_stored(2, square + 16 * side, stride);
  _tile_stored(3, square + 16 * side + 16, stride);
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; j += 16) {
      __m512 sum = _mm512_load_ps(square + i * side + j);
      float* to = sums + i * ld + j;
      if (!first) sum = _mm512_add_ps(_mm512_loadu_ps(to), sum);
      _mm512_storeu_ps(to, sum);
    }
}

/// The next part of what is left of sixteen elements, in the high halves of the words; `left` loses it.
__m512i next_part(__m512& left) {
  const __m512i bits = _mm512_castps_si512(left);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i up = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF))); // ties to even
  const __m512i part = _mm512_and_si512(up, _mm512_set1_epi32(static_cast<int>(0xFFFF0000u)));
  left = _mm512_sub_ps(left, _mm512_castsi512_ps(part));
  return part;
}

/// Elements that three parts hold: 0, or in magnitude from 2⁻¹¹⁰, so that no part is subnormal, to below
/// 2¹²⁷·1.9921875.
__mmask16 unfit(__m512 x) {
  const __m512i size = _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x7FFFFFFF));
  const __mmask16 large = _mm512_cmpge_epu32_mask(size, _mm512_set1_epi32(0x7F7F0000));
  const __mmask16 small = _mm512_cmplt_epu32_mask(size, _mm512_set1_epi32((127 - 110) << 23));
  return static_cast<__mmask16>(large | (small & _mm512_test_epi32_mask(size, size)));
}

bool pack_a(const float* elements, std::uint16_t* at) {
  __mmask16 bad = 0;
  for (int row = 0; row < side; ++row)
    for (int k = 0; k < chunk; k += 16) {
      __m512 left = _mm512_loadu_ps(elements + row * chunk + k);
      bad = static_cast<__mmask16>(bad | unfit(left));
      std::uint16_t* to = at + row / tile_rows * tile_size + row % tile_rows * chunk + k;
      for (int part = 0; part < parts; ++part)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + part * part_size),
                            _mm512_cvtepi32_epi16(_mm512_srli_epi32(next_part(left), 16)));
    }
  return bad == 0;
}

bool pack_b(const float* elements, std::uint16_t* at) {
  __mmask16 bad = 0;
  for (int k = 0; k < chunk; k += 2)
    for (int column = 0; column < side; column += 16) {
      __m512 even = _mm512_loadu_ps(elements + k * side + column);
      __m512 odd = _mm512_loadu_ps(elements + (k + 1) * side + column);
      bad = static_cast<__mmask16>(bad | unfit(even) | unfit(odd));
      std::uint16_t* to = at + column / 16 * tile_size + k / 2 * 32;
      for (int part = 0; part < parts; ++part)
        _mm512_storeu_si512(to + part * part_size,
                            _mm512_or_si512(_mm512_srli_epi32(next_part(even), 16), next_part(odd)));
    }
  return bad == 0;
}

} // namespace

const Tiles& tiles() {
  static constexpr Tiles all{configure, release, multiply, pack_a, pack_b};
  return all;
}

} // namespace tessera::cpu::amx
