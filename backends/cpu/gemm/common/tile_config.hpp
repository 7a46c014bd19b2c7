#pragma once

/// The shapes of AMX's tiles, for files that are compiled for AMX.

#include <cstdint>

namespace tessera::cpu {

/// The operand of the instruction LDTILECFG: the shapes of the eight tiles, whose rows have 64 bytes.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {};
};
static_assert(sizeof(TileConfig) == 64);

/// Sets the tiles' shapes for the calling thread: `rows` rows of tiles 0 to 5 (sums, and rows of A), 16 of tiles 6 and
/// 7 (columns of B).
inline void configure_tiles(int rows) {
  TileConfig config;
  for (int tile = 0; tile < 8; ++tile) config.rows[tile] = static_cast<std::uint8_t>(tile < 6 ? rows : 16);
  // The intrinsic _tile_loadconfig is of no use: gcc 12 believes that it reads eight bytes.
  asm volatile("ldtilecfg %0" ::"m"(config));
}

} // namespace tessera::cpu
