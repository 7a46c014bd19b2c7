#pragma once

/// Which results a cluster and a block compute, and from which k.

#include "cuda/gemm/common/programmatic_launch.cuh"
#include "tile_store.cuh"

namespace tessera::cuda::tma {

constexpr int raster_rows = 1024; ///< of tiles that lie below one another, so that their panels meet in the L2 cache

/// op(A) and op(B), or, if `swapped`, op(B)ᵀ and op(A)ᵀ, the product of which is Cᵀ.
struct TmaProduct {
  TensorOperand a, b;
  CUtensorMap c; ///< if in_boxes: boxes of results that the copy engine takes to C
  bool in_boxes;
  bool swapped;
  Output to;
  int tiles_m, tiles_n;          ///< a tile here is a cluster's, or that of a block that shares nothing
  int slices;                    ///< of k, a plane of sums each
  int k_parts;                   ///< of each slice, for the blocks of a cluster that share results; else 1
  int stages_each, longer_parts; ///< blocks of k, a stage each, of each part, and how many parts have one more
  EpilogueStore<float> epilogue;
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// The clusters' places in the list of tiles and slices, or those of blocks that share nothing: each does its own and
/// every so many further on.
template <class S>
struct Clusters {
  int first, all, count;
  __device__ explicit Clusters(const TmaProduct& x) {
    constexpr bool alone = S::sharing == Sharing::Nothing;
    first = static_cast<int>(alone ? ptx::get_sreg_ctaid_x() : ptx::get_sreg_clusterid_x());
    count = static_cast<int>(alone ? ptx::get_sreg_nctaid_x() : ptx::get_sreg_nclusterid_x());
    all = x.tiles_m * x.tiles_n * x.slices;
  }
  __device__ bool is_last(int index) const { return index + count >= all; }
};

/// Whether consumers find a tile's work where the producer has left it, in shared memory behind the barrier of the
/// tile's first stage: its divisions take 500 cycles, in which who has many tiles multiplies nothing. While the first
/// stage is on its way consumers have time for them.
template <UnitType type, class S>
constexpr bool producer_leaves_work_tiles = type == UnitType::Tf32 || S::sharing == Sharing::B;

/// A block's share of the work: its tile's slice, or part of one, of k.
template <class S>
struct alignas(16) WorkTile {
  int row, col;   ///< of the tile's first result in this block
  int begin, end; ///< blocks of k
  int slice;

  WorkTile() = default;
  /// With few divisions, and none of 64 bits: nothing is multiplied until this is done.
  __device__ WorkTile(const TmaProduct& x, int index, unsigned rank) {
    const unsigned tiles_m = static_cast<unsigned>(x.tiles_m), tiles_n = static_cast<unsigned>(x.tiles_n);
    const unsigned tiles = tiles_m * tiles_n;
    unsigned tile = static_cast<unsigned>(index);
    slice = 0;
    if (x.slices > 1) {
      slice = index / static_cast<int>(tiles);
      tile -= static_cast<unsigned>(slice) * tiles;
    }
    // As many blocks for each unit, or one more for the first ones.
    const int unit = S::sharing == Sharing::Results ? slice * x.k_parts + static_cast<int>(rank) : slice;
    begin = unit * x.stages_each + min(unit, x.longer_parts);
    end = begin + x.stages_each + (unit < x.longer_parts);
    if (S::blocks > 1 && tiles_n == 1) {
      row = static_cast<int>(tile) * S::rows;
      col = 0;
      return;
    }
    // Column by column within bands of rows of tiles.
    constexpr unsigned group_rows = raster_rows / S::rows;
    const unsigned first = tiles_m <= group_rows ? 0 : tile / (group_rows * tiles_n) * group_rows;
    const unsigned height = min(tiles_m - first, group_rows);
    const unsigned in_group = tile - first * tiles_n;
    const unsigned across = in_group / height;
    const unsigned down = first + in_group - across * height;
    row = static_cast<int>((S::sharing == Sharing::B ? down * cluster + rank : down) * S::rows);
    col = static_cast<int>(across) * S::tile_n;
  }
  /// What the producer has left for the tile that begins with the ring's stage, as soon as that is there.
  __device__ WorkTile(const WorkTile* left, std::uint64_t* full, const Ring<S::count>& ring) {
    wait(full[ring.stage], ring.phase);
    *this = left[ring.stage];
    __syncwarp(); // who gives the stage back does so for all lanes
  }
  __device__ int blocks() const { return end - begin; } ///< of k
  /// The same, and the compiler knows that all of a warp's threads have it.
  __device__ int uniform_blocks() const { return __shfl_sync(~0U, blocks(), 0); }
  /// The first of a consuming warp's results, and its consumer's.
  __device__ int row_of(int warp) const { return row + (S::beside ? warp % 4 : warp) * 16; }
  __device__ int col_of(int consumer) const { return col + (S::beside ? consumer * S::columns : 0); }
  /// All of this is known from here on.
  __device__ void hold() { asm volatile("" : "+r"(row), "+r"(col), "+r"(begin), "+r"(end)); }
};

#endif

} // namespace tessera::cuda::tma
