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
    {2048, 1568, 64},  {1792, 1792, 200}, {1777, 1789, 72},   {1501, 4475, 131},
    {2048, 3136, 136}, {512, 896, 16384}, {411, 1571, 16392}, {448, 833, 16387},
};

/// Blocks or clusters have several tiles each. Those of 224 and 256 columns store results of 16 bits while the next
/// tile is multiplied: in one stage of k, in fewer and in more than a tile's results take.
struct ProductInRounds {
  Index m, n, k;
  int tile_n;
};

constexpr ProductInRounds products_in_rounds[]{
    {2300, 2304, 40, 192}, {2300, 2400, 200, 192}, {2300, 3000, 300, 224}, {2293, 3136, 64, 224},
    {4090, 2048, 64, 256}, {4096, 2040, 330, 256}, {17000, 250, 200, 128}, {17000, 250, 70, 128},
};

/// The same in tf32, in tiles of 256 columns: of C, or of Cᵀ where neither operand is transposed.
constexpr ProductInTiles products_in_rounds_tf32[]{{4090, 2048, 40}, {4070, 2041, 97}, {2048, 4096, 160}};

/// Few tiles of 128×128, of which several blocks have a part of k each: whole ones, with some rows and columns less,
/// with lines that begin anywhere, and with a last block of k of few steps.
struct ProductOfClusterSplitK {
  Index m, n, k;
  int k_parts;
};

constexpr ProductOfClusterSplitK products_of_cluster_split_k[]{
    {512, 1024, 2048, 2}, {1000, 760, 3000, 2}, {1021, 1019, 4097, 2},
    {384, 1000, 2048, 4}, {511, 788, 2055, 4},  {324, 1046, 2055, 4},
};

/// In tiles of 64 rows: 128 columns of two consumers, or 64 of which each consumer, or each block's, has a part of k;
/// whole ones, with some rows and columns less, with lines that begin anywhere, and in slices of k.
struct ProductInTilesOf64Rows {
  Index m, n, k;
  int tile_n, k_parts, slices;
};

constexpr ProductInTilesOf64Rows products_in_tiles_of_64_rows[]{
    {1024, 1024, 1024, 128, 1, 1}, {300, 3000, 520, 128, 1, 1}, {301, 700, 333, 128, 1, 1}, {324, 100, 1000, 128, 1, 4},
    {200, 315, 1000, 64, 1, 1},    {200, 530, 2055, 64, 2, 1},  {263, 702, 2056, 64, 2, 1},
};

} // namespace tessera::test
