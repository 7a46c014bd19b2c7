#pragma once

/// Products that take tiles of known widths on 132 multiprocessors.

#include <tessera/backend/gemm_shape.hpp>
#include <tessera/types.hpp>

namespace tessera::test {

/// Products in large tiles: whole tiles alone, some rows and columns less, lines that begin anywhere, long and short k.
constexpr GemmShape products_in_large_tiles[]{
    {2048, 1568, 64},  {1792, 1792, 200}, {1777, 1789, 72},  {1501, 4475, 131},  {2048, 3136, 136}, {512, 896, 16384},
    {411, 889, 16392}, {448, 833, 16387}, {512, 1024, 2048}, {1021, 1019, 4097}, {3532, 519, 1064},
};

/// Products where blocks or clusters have several tiles each. Tiles of 224 and 256 columns store results of 16 bits
/// while the next tile is multiplied, whose k has one stage, or fewer or more stages than storing takes.
constexpr GemmShape products_in_rounds[]{
    {2300, 2304, 40},  {2300, 2400, 200}, {2300, 3000, 300}, {2293, 3136, 64}, {4090, 2048, 64},
    {4096, 2040, 330}, {17000, 250, 200}, {17000, 250, 70},  {578, 3352, 40},  {2845, 3594, 40},
};

/// Products in tf32 where clusters have several tiles of 256 columns each: of C, or of Cᵀ where neither operand is
/// transposed.
constexpr GemmShape products_in_rounds_tf32[]{{4912, 2065, 40}, {4070, 2041, 97}, {2048, 4096, 160}};

/// Products in small tiles, or of few of them, whose segments of k different blocks may have; and of 65 to 256 rows,
/// which become columns.
constexpr GemmShape products_in_small_tiles[]{
    {384, 1000, 10000}, {511, 788, 9000},  {324, 1046, 33000}, {1024, 1024, 1024}, {300, 3000, 520},
    {301, 700, 333},    {324, 100, 9000},  {200, 315, 1000},   {263, 702, 8200},   {4548, 29, 3744},
    {66, 9000, 1031},   {128, 4096, 2048}, {96, 3001, 8300},   {128, 300, 9100},   {200, 1027, 4100},
    {66, 2048, 1024},   {152, 2160, 1352}, {256, 256, 700},    {384, 2000, 14336}, {4235, 131, 907},
};

/// Products that show the contract of the matrix units: every tile, with one segment of k, two, four and five, whose
/// sums a block adds, or the blocks of a cluster, or another kernel. 132 multiprocessors have one tile each, or
/// several.
constexpr GemmShape products_of_the_contract[]{
    {1, 4096, 1000},    {1, 2022, 2129},   {1, 6396, 2083},    {5, 1000, 6200},    {16, 4096, 6200},
    {40, 9000, 2100},   {64, 300, 16500},  {68, 4095, 2075},   {71, 904, 6207},    {100, 120, 3000},
    {128, 4096, 6200},  {129, 8793, 2207}, {131, 5878, 2099},  {199, 3877, 2054},  {200, 1027, 6200},
    {260, 4351, 2233},  {264, 8742, 2109}, {300, 260, 40000},  {401, 8426, 2228},  {500, 788, 6200},
    {700, 900, 200},    {1000, 760, 6200}, {1777, 1789, 6200}, {2048, 2300, 2100}, {2100, 1900, 33000},
    {2293, 3136, 2300}, {2300, 2304, 256}, {3043, 136, 2243},  {3227, 129, 2151},  {3505, 599, 2065},
    {4090, 2048, 6200}, {4096, 2040, 330}, {4118, 614, 2499},  {4301, 129, 2066},  {130, 4284, 2088},
    {388, 4275, 2080},  {4256, 393, 2060},
};

/// Products that show the contract of the matrix units where a warp's instructions multiply: every tile, whose segments
/// of k a block adds, or the blocks of a cluster.
constexpr GemmShape products_of_warps[]{
    {1, 1, 4097},    {16, 16, 128},     {17, 16, 9000},     {24, 192, 4776},   {40, 300, 65},    {61, 45, 333},
    {64, 25, 5368},  {64, 64, 5312},    {100, 120, 3000},   {129, 65, 2047},   {160, 150, 8300}, {200, 96, 8200},
    {152, 1, 33000}, {200, 100, 40000}, {200, 210, 2300},   {222, 123, 3072},  {333, 222, 1111}, {700, 500, 8200},
    {900, 700, 40},  {1210, 136, 56},   {1000, 1100, 2100}, {2100, 1030, 300},
};

} // namespace tessera::test
