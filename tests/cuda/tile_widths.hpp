#pragma once

/// Products that take tiles of known widths on 132 multiprocessors.

#include <tessera/types.hpp>

namespace tessera::test {

struct ProductInTiles {
  Index m, n, k;
};

/// Products in tiles of 224 columns: with whole tiles alone, with some rows and columns less, with lines that begin
/// anywhere, and in slices of k.
constexpr ProductInTiles products_224_wide[]{
    {2048, 1568, 64},  {1792, 1792, 200}, {1777, 1789, 72},  {1501, 4475, 131},
    {2048, 3136, 136}, {512, 896, 16384}, {411, 889, 16392}, {448, 833, 16387},
};

/// Products where blocks or clusters have several tiles each. Tiles of 224 and 256 columns store results of 16 bits
/// while the next tile is multiplied, whose k has one stage, or fewer or more stages than storing takes.
struct ProductInRounds {
  Index m, n, k;
  int tile_n;
};

constexpr ProductInRounds products_in_rounds[]{
    {2300, 2304, 40, 192}, {2300, 2400, 200, 192}, {2300, 3000, 300, 224}, {2293, 3136, 64, 224},
    {4090, 2048, 64, 256}, {4096, 2040, 330, 256}, {17000, 250, 200, 128}, {17000, 250, 70, 128},
};

/// Products in tf32 where clusters have several tiles of 256 columns each: of C, or of Cᵀ where neither operand is
/// transposed.
constexpr ProductInTiles products_in_rounds_tf32[]{{4090, 2048, 40}, {4070, 2041, 97}, {2048, 4096, 160}};

/// Products of few tiles of 128×128, where each of several blocks has a part of k: with whole tiles, with some rows and
/// columns less, with lines that begin anywhere, and with a last block of k of few steps.
struct ProductOfClusterSplitK {
  Index m, n, k;
  int k_parts;
};

constexpr ProductOfClusterSplitK products_of_cluster_split_k[]{
    {512, 1024, 2048, 2}, {1000, 760, 3000, 2}, {1021, 1019, 4097, 2},
    {384, 1000, 2048, 4}, {511, 788, 2055, 4},  {324, 1046, 2055, 4},
};

/// Products in tiles of 64 rows. They have 128 columns for two consumers, or 64 columns, of which each consumer, of one
/// block or of several, has a part of k. There are whole tiles, tiles with some rows and columns less, lines that begin
/// anywhere, and slices of k, also more of them than there are multiprocessors for.
struct ProductInTilesOf64Rows {
  Index m, n, k;
  int tile_n, k_parts, slices;
};

constexpr ProductInTilesOf64Rows products_in_tiles_of_64_rows[]{
    {1024, 1024, 1024, 128, 1, 1}, {300, 3000, 520, 128, 1, 1}, {301, 700, 333, 128, 1, 1},
    {324, 100, 1000, 128, 1, 4},   {200, 315, 1000, 64, 1, 1},  {200, 530, 2055, 64, 2, 1},
    {263, 702, 2056, 64, 2, 1},    {4548, 29, 3744, 64, 1, 5},  {4345, 25, 3661, 64, 1, 5},
};

/// Products of 65 to 256 rows, which become columns: with tiles of all widths that they have, some rows and columns
/// less, and lines that begin anywhere.
struct ProductOfColumns {
  Index m, n, k;
  int tile_m, tile_n, k_parts, slices;
};

constexpr ProductOfColumns products_of_columns[]{
    {66, 9000, 1031, 128, 128, 1, 1}, {128, 4096, 2048, 128, 128, 2, 1}, {96, 3001, 4100, 128, 128, 4, 1},
    {128, 300, 4100, 64, 128, 1, 11}, {66, 3001, 1031, 64, 128, 1, 1},   {200, 1027, 4100, 64, 128, 1, 3},
    {66, 2048, 1024, 64, 64, 1, 1},   {96, 2048, 4100, 64, 64, 2, 1},
};

/// Products that show the contract of the matrix units: every tile, with one segment of k, two and three, whose sums a
/// block adds, or the blocks of a cluster, or another kernel. 132 multiprocessors have one tile each, or several.
constexpr ProductInTiles products_of_the_contract[]{
    {1, 4096, 1000},   {5, 1000, 8193},    {40, 9000, 8300},   {16, 4096, 10000},  {64, 300, 16500},
    {100, 120, 9000},  {300, 260, 40000},  {128, 4096, 8400},  {200, 1027, 8600},  {500, 788, 8200},
    {384, 1000, 9000}, {1000, 760, 8500},  {700, 900, 200},    {2048, 2300, 8200}, {1777, 1789, 9000},
    {2300, 2304, 256}, {2293, 3136, 8300}, {4090, 2048, 8256}, {4096, 2040, 330},  {2100, 1900, 33000},
};

} // namespace tessera::test
