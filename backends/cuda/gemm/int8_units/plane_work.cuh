#pragma once

/// What the kernel of planes multiplies: its parameters, a cluster's unit of work, and where a thread's results are.

#include "cuda/gemm/common/raster_order.hpp"
#include "cuda/gemm/common/wgmma_pipeline.cuh"
#include "product.cuh"

namespace tessera::cuda::int8_units {

using wgmma::consumers;

/// What a launch multiplies.
enum class Work { FirstSizes, AllSizes, Residues };

constexpr unsigned a_bytes = plane_bytes, b_bytes = 2 * plane_bytes, stage_bytes = a_bytes + b_bytes;
constexpr int stages = 4;
constexpr int consumer_threads = consumers * 128;
constexpr int raster_height = 8; ///< rows of clusters' tiles that follow one another, and share op(B) in the L2 cache

/// Reductions of all planes, among the parameters, because a block has planes in turn.
struct PlaneReductions {
  Reduction plane[residues];

  PlaneReductions() {
    for (int l = 0; l < residues; ++l) plane[l] = reduction_of_sums(l);
  }
};

struct PlaneProduct {
  const char *a, *b;
  int first_plane;
  const Facts *a_facts, *b_facts;
  int bits;
  int blocks;           ///< of k, that the operands have
  int blocks_used;      ///< the first ones, which are multiplied
  int tiles_m, tiles_n; ///< of clusters
  int planes;
  Results results;
  PlaneReductions reductions = {};
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// A cluster's unit of work: a plane of one tile. The producer tells it to the consumers with the tile's first stage.
struct alignas(16) WorkTile {
  int plane;    ///< negative: there is no more work
  int row, col; ///< of the cluster's tile

  __device__ static WorkTile of(const PlaneProduct& x, int index) {
    const int tiles = x.tiles_m * x.tiles_n;
    const TilePlace place = raster_place(index % tiles, x.tiles_m, x.tiles_n, raster_height);
    return {index / tiles, static_cast<int>(place.row), static_cast<int>(place.col)};
  }

  /// Says whether the launch has to multiply the tile.
  template <Work work>
  __device__ bool is_needed(const PlaneProduct& x) const {
    if constexpr (work == Work::FirstSizes) return true;
    bool needed = false;
#pragma unroll
    for (int rank = 0; rank < cluster; ++rank) {
      const Index tile_row = Index{row} * cluster + rank;
      const TileState state = x.results.states[x.results.tile_of(tile_row, col)];
      if (tile_row * tile_m < x.results.m)
        needed = needed || (work == Work::AllSizes ? (state.bits & TileState::undecided) != 0 : !state.is_strict());
    }
    return needed;
  }
};

/// The place of a consumer's results: its tile, and its piece of it.
struct Place {
  Index tile, row, col; ///< row and column of the thread's first result
  int piece, lane;

  __device__ Place(const PlaneProduct& x, const WorkTile& work, unsigned rank) {
    const int thread = static_cast<int>(threadIdx.x) - 128;
    const Index tile_row = Index{work.row} * cluster + rank;
    piece = thread / 32;
    lane = thread % 32;
    tile = x.results.tile_of(tile_row, work.col);
    row = tile_row * tile_m + piece * piece_rows + lane / 4;
    col = Index{work.col} * tile_n + lane % 4 * 2;
  }
};

#endif

} // namespace tessera::cuda::int8_units
