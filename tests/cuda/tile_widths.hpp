#pragma once

/// Products on 132 multiprocessors, in tiles of known widths.

#include <tessera/types.hpp>

namespace tessera::test {

struct ProductInTiles {
  Index m, n, k;
};

/// Of 224 columns: of whole tiles alone, with some rows and columns less, with lines that begin anywhere, and in slices
/// of k.
constexpr ProductInTiles products_224_wide[]{
    {1792, 2016, 64},  {1792, 2000, 200}, {1777, 2009, 72},  {1501, 2235, 131},
    {2560, 2560, 136}, {1536, 672, 4096}, {1500, 660, 4104}, {1511, 653, 4099},
};

/// Clusters have several tiles each, so that results of 16 bits are stored while the next tile is multiplied: for one
/// stage of k, for fewer and for more than a tile's results take.
struct ProductInRounds {
  Index m, n, k;
  int tile_n;
};

constexpr ProductInRounds products_in_rounds[]{
    {2300, 2304, 40, 192}, {2300, 2400, 200, 192}, {2300, 3000, 300, 224}, {2293, 3136, 64, 224},
    {4090, 2048, 64, 256}, {4096, 2040, 330, 256}, {17000, 120, 200, 128}, {17000, 128, 70, 128},
};

} // namespace tessera::test
