/// Bytes by AVX-512 VNNI: an instruction multiplies 64 pairs and adds four neighbouring products to each of 16 sums.

#include "cpu/gemm/common/avx512_intrinsics.hpp"

#include "byte_tiles.hpp"

namespace tessera::cpu::int8_units {
namespace {

constexpr Index side = 4; ///< rows and columns of the sums in registers

/// Adds the products of four lines of each operand to the sums.
void multiply_lines(const std::uint8_t* a, const std::uint8_t* b, Index tiles, std::int32_t* sums, Index ld,
                    bool first) {
  __m512i lanes[side][side];
  for (auto& row : lanes)
    for (__m512i& x : row) x = _mm512_setzero_si512();
  for (; tiles > 0; --tiles, a += tile_bytes, b += tile_bytes) {
    __m512i column[side];
    for (Index j = 0; j < side; ++j) column[j] = _mm512_loadu_si512(b + j * tile_k);
    for (Index i = 0; i < side; ++i) {
      const __m512i row = _mm512_loadu_si512(a + i * tile_k);
      for (Index j = 0; j < side; ++j) lanes[i][j] = _mm512_dpbusd_epi32(lanes[i][j], row, column[j]);
    }
  }
  for (Index i = 0; i < side; ++i)
    for (Index j = 0; j < side; ++j)
      sums[i * ld + j] = (first ? 0 : sums[i * ld + j]) + _mm512_reduce_add_epi32(lanes[i][j]);
}

void multiply(const Run& a, const Run& b, const Sums& sums, bool first, const Ahead&) {
  for (Index j = 0; j < sums.cols; j += side)
    for (Index i = 0; i < sums.rows; i += side)
      multiply_lines(a.line(i), b.line(j), a.tiles, sums.data + i * sums.ld + j, sums.ld, first);
}

} // namespace

const ByteKernel vnni_bytes{"vnni", false, multiply};

} // namespace tessera::cpu::int8_units
