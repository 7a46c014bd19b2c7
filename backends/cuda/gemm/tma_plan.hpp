#pragma once

/// Which tiles, and how many slices of k, a product by tensor maps is done with. Without CUDA.

#include <algorithm>

#include <tessera/types.hpp>

namespace tessera::cuda::tma {

struct Plan {
  int tile_n;
  int slices;
};

/// Of 256, 192, 128 and 64 columns (or two of these) and every number of slices the combination that is done first on
/// `clusters` at once, by a model in cycles: a block of k takes what the matrix units need for it, or what the L2 cache
/// needs to bring a narrow tile's operands; a tile costs its start and end; sums cross the L2 cache twice and are added
/// by one kernel more.
inline Plan choose_plan(Index m, Index n, Index blocks, Index clusters, bool all_widths) {
  struct Width {
    int tile_n;
    double block, start;
  };
  Plan best{256, 1};
  double least = 0;
  for (const auto [tile_n, block, start] :
       {Width{256, 1060, 9000}, Width{192, 800, 8500}, Width{128, 640, 8000}, Width{64, 430, 7500}}) {
    if (!all_widths && tile_n % 128 != 0) continue;
    const Index tiles = ((m + 255) / 256) * ((n + tile_n - 1) / tile_n);
    const Index most = std::clamp<Index>(clusters / tiles, 1, std::max<Index>(1, blocks / 4));
    for (Index slices = 1; slices <= most; ++slices) {
      const Index rounds = (tiles * slices + clusters - 1) / clusters;
      double cost = static_cast<double>(rounds) * (static_cast<double>((blocks + slices - 1) / slices) * block + start);
      if (slices > 1) cost += 7000 + static_cast<double>(m * n * slices) * 8 / 2000;
      if (least == 0 || cost < least) {
        least = cost;
        best = {tile_n, static_cast<int>(slices)};
      }
    }
  }
  return best;
}

} // namespace tessera::cuda::tma
