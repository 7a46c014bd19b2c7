#pragma once

/// Products of stream_k on 132 multiprocessors, with edges and with lines that begin anywhere: f64 products whose
/// segments a chain of blocks adds, f64 products in tiles of 128×64, and products in smaller tiles.

#include "tile_widths.hpp"

namespace tessera::test {

constexpr GemmShape chained_products[]{
    {1024, 1664, 5000}, {1001, 1601, 5001}, {1024, 1024, 8192},
    {1270, 1270, 9000}, {768, 760, 32769}, // many segments of few tiles, the last of which is one step
};

constexpr GemmShape products_128x64[]{
    {1024, 1024, 1024}, {1000, 1024, 1000}, {1024, 1000, 1500}, {1001, 1003, 1100},
    {1000, 1000, 1000}, {2200, 512, 1100},  {2201, 509, 1501}, // more tiles than multiprocessors: some are cut
};

/// These products take all tiles of stream_k but the largest, in f32 and in f64, whole and (except f64's 64×32) cut. In
/// some stages of each tile, k ends early.
constexpr GemmShape products_of_middle_sizes[]{
    {300, 1000, 1000},  {301, 1001, 1003},  {257, 130, 700},    {500, 512, 512},  {640, 630, 650},
    {768, 760, 770},    {895, 897, 900},    {32, 6000, 600},    {31, 6001, 2000}, {4100, 33, 4100},
    {1150, 1153, 1152}, {1400, 1404, 1409}, {1530, 1540, 1536}, {1030, 2050, 40}, {501, 3001, 100},
    {130, 1500, 300},   {129, 4001, 600},   {99, 701, 1500},    {510, 2001, 333}, {2300, 2101, 300},
};

} // namespace tessera::test
