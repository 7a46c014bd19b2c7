#pragma once

/// Products in tiles of 224 columns, on 132 multiprocessors: of whole tiles alone, with some rows and columns less,
/// with lines that begin anywhere, and in slices of k.

#include <tessera/types.hpp>

namespace tessera::test {

struct ProductInTiles {
  Index m, n, k;
};

constexpr ProductInTiles products_224_wide[]{
    {1792, 2016, 64},  {1792, 2000, 200}, {1777, 2009, 72},  {1501, 2235, 131},
    {2560, 2560, 136}, {1536, 672, 4096}, {1500, 660, 4104}, {1511, 653, 4099},
};

} // namespace tessera::test
