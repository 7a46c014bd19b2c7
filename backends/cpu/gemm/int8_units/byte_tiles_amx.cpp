/// Bytes by AMX's tiles: an instruction multiplies a tile of 16 rows and one of 16 columns, 64 k each. A square of two
/// tiles of rows and two of columns keeps its four tiles of sums in registers.

#include "cpu/gemm/common/avx512_intrinsics.hpp"

#include "byte_tiles.hpp"
#include "cpu/gemm/common/tile_config.hpp"

namespace tessera::cpu::int8_units {
namespace {

constexpr int line_bytes = 64;

template <int down, int across>
void multiply_square(const std::uint8_t* a, Index a_group, const std::uint8_t* b, Index b_group, Index tiles,
                     std::int32_t* sums, Index ld, bool first) {
  const Index stride = ld * Index{sizeof(std::int32_t)};
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  if (!first) {
    _tile_loadd(0, sums, stride);
    if constexpr (across > 1) _tile_loadd(1, sums + tile_lines, stride);
    if constexpr (down > 1) _tile_loadd(2, sums + tile_lines * ld, stride);
    if constexpr (down > 1 && across > 1) _tile_loadd(3, sums + tile_lines * ld + tile_lines, stride);
  }
  for (; tiles > 0; --tiles, a += tile_bytes, b += tile_bytes) {
    _tile_loadd(6, b, line_bytes);
    _tile_loadd(4, a, line_bytes);
    _tile_dpbusd(0, 4, 6);
    if constexpr (across > 1) {
      _tile_loadd(7, b + b_group, line_bytes);
      _tile_dpbusd(1, 4, 7);
    }
    if constexpr (down > 1) {
      _tile_loadd(5, a + a_group, line_bytes);
      _tile_dpbusd(2, 5, 6);
      if constexpr (across > 1) _tile_dpbusd(3, 5, 7);
    }
  }
  _tile_stored(0, sums, stride);
  if constexpr (across > 1) _tile_stored(1, sums + tile_lines, stride);
  if constexpr (down > 1) _tile_stored(2, sums + tile_lines * ld, stride);
  if constexpr (down > 1 && across > 1) _tile_stored(3, sums + tile_lines * ld + tile_lines, stride);
}

void multiply(const Tiles& a, const Tiles& b, Index tiles, const Sums& sums, bool first) {
  configure_tiles(static_cast<int>(tile_lines));
  for (Index j = 0; j < sums.cols; j += 2 * tile_lines) {
    const std::uint8_t* column = b.first + j / tile_lines * b.group_bytes;
    const bool wide = sums.cols - j > tile_lines;
    for (Index i = 0; i < sums.rows; i += 2 * tile_lines) {
      const std::uint8_t* row = a.first + i / tile_lines * a.group_bytes;
      const bool tall = sums.rows - i > tile_lines;
      const auto square = wide && tall ? multiply_square<2, 2>
                          : wide       ? multiply_square<1, 2>
                          : tall       ? multiply_square<2, 1>
                                       : multiply_square<1, 1>;
      square(row, a.group_bytes, column, b.group_bytes, tiles, sums.data + i * sums.ld + j, sums.ld, first);
    }
  }
  _tile_release();
}

} // namespace

const ByteKernel amx_bytes{"amx", true, multiply};

} // namespace tessera::cpu::int8_units
