#pragma once

/// f64 products of stream_k, on 132 multiprocessors: those whose segments a chain of blocks adds, and those of tiles of
/// 128×64, with edges and lines that begin anywhere.

#include "tile_widths.hpp"

namespace tessera::test {

constexpr ProductInTiles chained_products[]{
    {1024, 1664, 5000}, {1001, 1601, 5001}, {1024, 1024, 8192},
    {1270, 1270, 9000}, {768, 760, 32769}, // many segments of few tiles, the last of which is one step
};

constexpr ProductInTiles products_128x64[]{
    {1024, 1024, 1024}, {1000, 1024, 1000}, {1024, 1000, 1500}, {1001, 1003, 1100},
    {1000, 1000, 1000}, {2200, 512, 1100},  {2201, 509, 1501}, // more tiles than multiprocessors: some are cut
};

} // namespace tessera::test
