#pragma once

/// Chooses the tiles of C that the direct micro-kernel computes straight from the operands.

#include <algorithm>

#include "blocking.hpp"
#include "direct_view.hpp"
#include "microkernel.hpp"

namespace tessera::cpu {

/// Rows that lie a multiple of this many bytes apart fall on the same few sets of the L1 cache, which holds eight lines
/// a set.
inline constexpr Index aliasing_bytes = 2048;
inline constexpr int rows_that_alias = 7;

/// Estimates how long a tile takes, in units of one vector multiply-add: the larger of its multiply-adds and its loads,
/// and the time to begin and to end it. `vectors` may end with half a vector. `two_units`: see has_two_wide_units.
///
/// Where one vector stands beside the elements of A, the multiply-adds load them. Where there are more, broadcasts of
/// their own do, which share units with the multiply-adds.
inline float time_of_tile(int rows, float vectors, float k, bool two_units) {
  const auto elements = static_cast<float>(rows);
  const float sums = elements * vectors;
  const float loads = vectors <= 0.5f   ? 0.58f * elements + 1.0f
                      : vectors <= 1.0f ? elements + 1.5f
                      : vectors == 1.5f ? 1.6f * elements + 1.0f
                                        : 1.25f * (elements + vectors);
  const float late_stores =
      std::clamp(8.0f * (sums - 16.0f), 0.0f, 48.0f); // stores of 16 sums hide behind the next tile
  const float ends = two_units ? 300.0f : 14.0f + late_stores;
  return k * std::max(sums, loads) + ends;
}

/// Estimates, with time_of_tile, how long m rows of `vectors` vectors take in tiles of `rows` rows and `whole` vectors.
inline float time_of_tiles(int m, float vectors, float k, int rows, int whole, bool two_units) {
  const int whole_tiles = static_cast<int>(vectors) / whole;
  const float left_vectors = vectors - static_cast<float>(whole_tiles * whole);
  const auto time_of_row = [&](int r) {
    const float last = left_vectors == 0.0f ? 0.0f : time_of_tile(r, left_vectors, k, two_units);
    return static_cast<float>(whole_tiles) * time_of_tile(r, static_cast<float>(whole), k, two_units) + last;
  };
  const int whole_rows = m / rows;
  const int left = m % rows;
  return static_cast<float>(whole_rows) * time_of_row(rows) + (left == 0 ? 0.0f : time_of_row(left));
}

/// Returns how many vectors n columns take. The last one counts half where half a vector holds its columns.
template <class T>
float vectors_of(int n, const MicroKernel<T>& kernel) {
  const int lanes = kernel.direct_cols(kernel.direct_rows);
  const int whole = n / lanes, last = n % lanes;
  return static_cast<float>(whole) + (last == 0 ? 0.0f : last <= kernel.half_lanes ? 0.5f : 1.0f);
}

/// Rows and columns of a tile.
struct TileSize {
  int m, n;
};

constexpr Index many = 1 << 20; // more rows or columns than this do not change a choice

/// Returns tiles of nearly equal numbers of rows beside one strip of a packed B.
template <class T>
TileSize choose_tile_of_strip(const DirectView<T>& x, const MicroKernel<T>& kernel) {
  const int lanes = kernel.direct_cols(kernel.direct_rows);
  const Index most = x.n <= lanes ? kernel.direct_rows : kernel.tile_m;
  return {static_cast<int>(ceil_div(x.m, ceil_div(x.m, most))), kernel.tile_n};
}

/// Chooses the tile for a product whose B is not packed. More rows than fit one tile are cut into tiles of nearly equal
/// size. A tile is two, three or four vectors of B wide, by the estimate of time_of_tiles.
template <class T>
TileSize choose_tile(const DirectView<T>& x, const MicroKernel<T>& kernel) {
  const int lanes = kernel.direct_cols(kernel.direct_rows);
  const bool aliases =
      x.a_step == 1 && x.m > rows_that_alias && x.a_row * static_cast<Index>(sizeof(T)) % aliasing_bytes == 0;
  const int most = std::min(aliases ? rows_that_alias : kernel.direct_rows, kernel.direct_rows);
  const int m = static_cast<int>(std::min(x.m, many));
  const int n = static_cast<int>(std::min(x.n, many));
  const auto even = [&](int rows) { return m <= rows ? m : ceil_div(m, ceil_div(m, rows)); };
  const int rows = even(std::min(most, n <= lanes ? most : kernel.tile_m));
  TileSize best{rows, kernel.direct_cols(rows)};
  constexpr Index worth_a_choice = 32 * 32 * 32;
  if (n <= lanes || m == 1 || x.m * x.n * x.k <= worth_a_choice) return best;

  const float vectors = vectors_of(n, kernel);
  const bool two_units = has_two_wide_units(kernel.isa);
  const auto time = [&](TileSize tile) {
    return time_of_tiles(m, vectors, static_cast<float>(x.k), tile.m, tile.n / lanes, two_units);
  };
  float least = time(best);
  const auto consider = [&](int tile_rows, int beside) {
    const int even_rows = even(std::clamp(tile_rows, 1, most));
    const TileSize tile{even_rows, beside * lanes};
    if (tile.n > kernel.direct_cols(even_rows)) return;
    const float here = time(tile);
    if (here >= least) return;
    least = here;
    best = tile;
  };
  const int registers = 2 * kernel.tile_m + 4; // tile_m leaves room for two vectors of B
  consider((registers - 4) / 3, 3);
  consider((registers - 5) / 4, 4);
  constexpr Index short_k = 128; // a longer k hides the end of a tile, and smaller tiles would only read B more often
  if (x.k > short_k) return best;
  consider(8, 2);
  consider(4, 4);
  return best;
}

} // namespace tessera::cpu
