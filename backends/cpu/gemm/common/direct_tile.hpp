#pragma once

/// Chooses the tiles of C that the direct micro-kernel computes straight from the operands.

#include <algorithm>
#include <cmath>

#include "blocking.hpp"
#include "direct_view.hpp"
#include "microkernel.hpp"

namespace tessera::cpu {

/// Rows that lie a multiple of this many bytes apart fall on the same few sets of the L1 cache, which holds eight lines
/// a set.
inline constexpr Index aliasing_bytes = 2048;
inline constexpr int rows_that_alias = 7;

/// Says whether an operand of so many bytes stays in L1 beside the lines that tiles read and write meanwhile.
constexpr bool stays_in_l1(Index bytes) { return bytes <= Index{16} << 10; }

/// What a tile costs besides its multiply-adds and loads, in units of one vector multiply-add.
struct TileEnds {
  float tile;           ///< to begin and to end it
  float piece;          ///< to store a piece of a row of C
  float lanes;          ///< of a vector whose elements belong to as many rows of C, or 0: a row of the tile is a piece
  bool one_vector_unit; ///< half vectors take half the time; stores of more than 16 sums hide behind no other tile

  /// `two_vector_units`: see has_two_wide_vector_units. `c_is_far`: C does not stay in L2. Its lines then come from L3
  /// or memory, and come faster the longer the pieces of its rows are. `swapped`: see DirectView.
  TileEnds(bool two_vector_units, bool c_is_far, bool swapped, int lanes_of_vector)
      : tile(two_vector_units ? 50.0f : 14.0f),
        piece(!two_vector_units ? 0.0f
              : c_is_far        ? 20.0f
                                : 2.0f),
        lanes(swapped ? static_cast<float>(lanes_of_vector) : 0.0f),
        one_vector_unit(!two_vector_units) {}

  float time(float rows, float vectors) const {
    const float late = one_vector_unit ? std::clamp(8.0f * (rows * vectors - 16.0f), 0.0f, 48.0f) : 0.0f;
    return tile + piece * (lanes > 0 ? lanes * vectors : rows) + late;
  }
};

/// Estimates how long a tile takes, in units of one vector multiply-add: the larger of its multiply-adds and its loads,
/// and its ends. `vectors` may end with half a vector.
///
/// Where one vector stands beside the elements of A, the multiply-adds load them. Where there are more, broadcasts of
/// their own do, which share execution units with the multiply-adds.
inline float time_of_tile(int rows, float vectors, float k, const TileEnds& ends) {
  const auto elements = static_cast<float>(rows);
  if (!ends.one_vector_unit) vectors = std::ceil(vectors);
  const float sums = elements * vectors;
  const float loads = vectors <= 0.5f   ? 0.58f * elements + 1.0f
                      : vectors <= 1.0f ? elements + 1.5f
                      : vectors == 1.5f ? 1.6f * elements + 1.0f
                                        : 1.25f * (elements + vectors);
  return k * std::max(sums, loads) + ends.time(elements, vectors);
}

/// Estimates, with time_of_tile, how long m rows of `vectors` vectors take in tiles of `rows` rows and `whole` vectors.
inline float time_of_tiles(int m, float vectors, float k, int rows, int whole, const TileEnds& ends) {
  const int whole_tiles = static_cast<int>(vectors) / whole;
  const float left_vectors = vectors - static_cast<float>(whole_tiles * whole);
  const auto time_of_row = [&](int r) {
    const float last = left_vectors == 0.0f ? 0.0f : time_of_tile(r, left_vectors, k, ends);
    return static_cast<float>(whole_tiles) * time_of_tile(r, static_cast<float>(whole), k, ends) + last;
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
/// size. A tile is as many vectors of B wide as takes the least time by the estimate of time_of_tiles. `c_is_far`: see
/// TileEnds.
template <class T>
TileSize choose_tile(const DirectView<T>& x, const MicroKernel<T>& kernel, bool c_is_far = false) {
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
  const bool two_vector_units = has_two_wide_vector_units(kernel.isa);
  const TileEnds ends(two_vector_units, c_is_far, x.swapped, lanes);
  const auto time = [&](TileSize tile) {
    return time_of_tiles(m, vectors, static_cast<float>(x.k), tile.m, tile.n / lanes, ends);
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
  // Tiles of few rows read B more often, which has to be in L1. Where there are 16 registers, two rows are few.
  const bool b_is_near = stays_in_l1(x.k * x.n * static_cast<Index>(sizeof(T)));
  const int widest = two_vector_units && b_is_near && !x.swapped ? 8 : 4;
  constexpr int few_rows = 2;
  for (int beside = 3; beside <= widest; ++beside)
    if (const int tile_rows = (registers - 1) / beside - 1; tile_rows > few_rows || b_is_near)
      consider(tile_rows, beside);
  constexpr Index short_k = 128; // a longer k hides the end of a tile, and smaller tiles would only read B more often
  if (x.k > short_k) return best;
  consider(8, 2);
  consider(4, 4);
  return best;
}

} // namespace tessera::cpu
