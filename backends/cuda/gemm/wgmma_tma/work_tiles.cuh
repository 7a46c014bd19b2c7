#pragma once

/// Says which results a cluster and a block compute, and over which range of k.

#include "cuda/gemm/common/programmatic_launch.cuh"
#include "tile_store.cuh"

namespace tessera::cuda::tma {

/// Returns the rows of tiles that the raster order walks together, so that blocks that run side by side share operands:
/// fewer where tiles are narrow, because there op(B) is the smaller part of what a block reads
/// (docs/lab/random_shapes.md).
constexpr __host__ __device__ int raster_tiles(int tile_n) { return tile_n >= 128 ? 8 : 4; }

/// The kernel's parameters: op(A) and op(B) or, if `swapped`, op(B)ᵀ and op(A)ᵀ, whose product is Cᵀ.
struct TmaProduct {
  TensorOperand a, b;
  CUtensorMap c; ///< if in_boxes: C, for the boxes of results that the copy engine stores
  bool in_boxes;
  bool swapped;
  bool adds_c; ///< the kernel is one that adds C in accumulators
  Output to;
  int tiles_m, tiles_n; ///< numbers of tiles; a tile here belongs to a cluster, or to a block that shares nothing
  int slices;           ///< slices of k, each of one segment, which have planes of sums; otherwise 1
  int k_parts;          ///< blocks of a cluster that share results, each with one segment; otherwise 1
  int blocks;           ///< blocks of k, each of which fills a stage
  int segment_blocks;   ///< of each segment but the last one
  char* stash;          ///< sums of earlier segments that wait in memory (segment_total.cuh)
  EpilogueStore<float> epilogue;
};

/// What a kernel does with sums before it stores them: at most multiply them by alpha; or add beta·C, where `to` has
/// alpha 1 and beta 0, and `epilogue` has the call's factors; or apply the epilogue.
enum class Storing { Plain, AddsC, Epilogue };

/// A tile's row and column among the tiles.
struct TileAt {
  unsigned down, across;
};

/// Numbers tiles column by column within groups of `group_rows` rows of tiles, as raster_place() does, without
/// divisions of 64 bits.
__device__ inline TileAt raster_place_32(unsigned tile, unsigned tiles_m, unsigned tiles_n, unsigned group_rows) {
  const unsigned first = tiles_m <= group_rows ? 0 : tile / (group_rows * tiles_n) * group_rows;
  const unsigned height = min(tiles_m - first, group_rows);
  const unsigned in_group = tile - first * tiles_n;
  const unsigned across = in_group / height;
  return {first + in_group - across * height, across};
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// The position of a cluster, or of a block that shares nothing, in the list of tiles and slices. It takes entry
/// `first` and every `count`-th after it; the list has `all` entries.
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

/// Says whether the producer leaves a tile's work tile in shared memory, after the barrier of the tile's first stage,
/// and consumers read it there. Otherwise each consumer computes it: that takes divisions, during which a consumer with
/// many tiles multiplies nothing, but which cost nothing while the first stage is on its way.
template <MatrixUnitType type, class S>
constexpr bool producer_leaves_work_tiles = type == MatrixUnitType::Tf32 || S::sharing == Sharing::B;

/// A block's unit of work: all segments of a tile's k, or one of them.
template <class S>
struct alignas(16) WorkTile {
  int row, col;   ///< place of the first result of this block's tile
  int begin, end; ///< blocks of k
  int slice;

  WorkTile() = default;
  /// Computes the work tile number `index`. It takes few divisions, and none of 64 bits, because nothing is multiplied
  /// until it is done.
  __device__ WorkTile(const TmaProduct& x, int index, unsigned rank) {
    const unsigned tiles_m = static_cast<unsigned>(x.tiles_m), tiles_n = static_cast<unsigned>(x.tiles_n);
    const unsigned tiles = tiles_m * tiles_n;
    unsigned tile = static_cast<unsigned>(index);
    slice = 0;
    if (x.slices > 1) {
      slice = index / static_cast<int>(tiles);
      tile -= static_cast<unsigned>(slice) * tiles;
    }
    begin = (S::sharing == Sharing::Results ? static_cast<int>(rank) : slice) * x.segment_blocks;
    end = S::sharing == Sharing::Results || x.slices > 1 ? min(begin + x.segment_blocks, x.blocks) : x.blocks;
    if (S::tile_n == 64 && tiles_n == 1) {
      row = static_cast<int>(tile) * S::rows;
      col = 0;
      return;
    }
    const auto [down, across] = raster_place_32(tile, tiles_m, tiles_n, raster_tiles(S::tile_n));
    row = static_cast<int>((S::sharing == Sharing::B ? down * cluster + rank : down) * S::rows);
    col = static_cast<int>(across) * S::tile_n;
  }
  /// Reads the work tile that the producer has left for the tile that begins with the ring's stage, as soon as it is
  /// there.
  __device__ WorkTile(const WorkTile* left, std::uint64_t* full, const Ring<S::count>& ring) {
    wait(full[ring.stage], ring.phase);
    *this = left[ring.stage];
    __syncwarp(); // a lane that gives the stage back does so for all lanes
  }
  __device__ int blocks() const { return end - begin; } ///< the number of blocks of k
  /// Returns blocks() in a way that tells the compiler that it is equal in all threads of a warp.
  __device__ int uniform_blocks() const { return __shfl_sync(~0U, blocks(), 0); }
  /// These return the place of the first result of a consumer warp, and of its consumer.
  __device__ int row_of(int warp) const { return row + (S::beside ? warp % 4 : warp) * 16; }
  __device__ int col_of(int consumer) const { return col + (S::beside ? consumer * S::columns : 0); }
  /// Makes the compiler compute all members at this place in the code.
  __device__ void hold() { asm volatile("" : "+r"(row), "+r"(col), "+r"(begin), "+r"(end)); }
};

#endif

} // namespace tessera::cuda::tma
