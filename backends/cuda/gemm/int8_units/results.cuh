#pragma once

/// The results of the products of planes, between the product and the kernel that puts residues together: a byte for
/// each element of C and plane, and what is known of each tile.
///
/// Bytes lie in the order in which a thread of the product has them, so that it stores 16 at once without a detour: a
/// tile of 128×256 results has eight pieces, one for each warp and 16 rows, of eight vectors, one for each 8 rows by 64
/// columns, with 16 bytes for each lane.

#include <tessera/types.hpp>

#include "cuda/gemm/common/ceil_div.hpp"
#include "residues.cuh"

namespace tessera::cuda::int8_units {

constexpr int tile_m = 128, tile_n = 256; ///< results of a block
constexpr int quarters = 4, quarter_n = tile_n / quarters;
constexpr int tile_bytes = tile_m * tile_n;
constexpr int piece_rows = 16, pieces = tile_m / piece_rows, piece_bytes = piece_rows * tile_n;

/// What is known of the elements of a tile. Zero: all of them are certain.
struct TileState {
  unsigned bits;

  static constexpr unsigned undecided = 1u << 8; ///< until all sizes are known

  static __host__ __device__ constexpr unsigned has_certain(int quarter) { return 1u << quarter; }
  static __host__ __device__ constexpr unsigned has_uncertain(int quarter) { return 16u << quarter; }
  /// Says whether some element of the quarter is not certain, so that its flags were written.
  __host__ __device__ bool is_mixed(int quarter) const { return (bits & has_uncertain(quarter)) != 0; }
  /// Says whether no element of the quarter is certain.
  __host__ __device__ bool is_strict(int quarter) const {
    return is_mixed(quarter) && (bits & has_certain(quarter)) == 0;
  }
  /// Says whether no element of the tile is certain.
  __host__ __device__ bool is_strict() const { return (bits & 0xF0) != 0 && (bits & 0x0F) == 0; }
};

/// The planes of results. The one of sizes has flags: 1 for an element that is not certain.
struct Results {
  Index m = 0, n = 0;
  Index tiles_m = 0, tiles_n = 0; ///< the number of tiles down is even, because a cluster has two
  char* data = nullptr;
  TileState* states = nullptr;    ///< of all tiles, row by row
  long long* size_sums = nullptr; ///< where k is so long that sums of sizes exceed 32 bits

  Results() = default;
  Results(Index rows, Index columns)
      : m(rows),
        n(columns),
        tiles_m(2 * ceil_div<Index>(rows, 2 * tile_m)),
        tiles_n(ceil_div<Index>(columns, tile_n)) {}

  Index tiles() const { return tiles_m * tiles_n; }
  Index bytes() const { return planes * tiles() * tile_bytes; }
  __host__ __device__ Index tile_of(Index tile_row, Index tile_col) const { return tile_row * tiles_n + tile_col; }
  __host__ __device__ Index plane_bytes() const { return tiles_m * tiles_n * tile_bytes; }
  /// Returns where the 16 bytes are that a lane has of a tile's piece and vector.
  __host__ __device__ static Index offset_of(Index tile, int piece, int vector, int lane) {
    return tile * tile_bytes + piece * piece_bytes + vector * 512 + lane * 16;
  }
  /// Returns where the byte of an element is.
  __host__ __device__ Index offset_of(Index row, Index column) const {
    const int r = static_cast<int>(row % tile_m), c = static_cast<int>(column % tile_n);
    return offset_of(tile_of(row / tile_m, column / tile_n), r / piece_rows, r % 16 / 8 * 4 + c / quarter_n,
                     r % 8 * 4 + c % 8 / 2) +
           c % quarter_n / 8 * 2 + c % 2;
  }
};

} // namespace tessera::cuda::int8_units
