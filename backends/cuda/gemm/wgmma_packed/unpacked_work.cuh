#pragma once

/// Describes a product whose large operand is read from where it is: the stages, the work of a cluster and a block, and
/// where results go.
///
/// The product is computed as D, which has the rows of the large operand: op(A) by rows or op(B) by columns. D's
/// columns belong to the small operand, which is split and packed. If the large operand is op(B), D is Cᵀ.

#include <cuda.h>

#include "cuda/gemm/common/emulated_fp16x3/chunk_scales.cuh"
#include "cuda/gemm/common/emulated_fp16x3/plan.hpp"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/unfit_lines.cuh"
#include "cuda/gemm/common/wgmma_pipeline.cuh"

namespace tessera::cuda::wgmma::unpacked {

using fp16x3::block_k;       // of a stage: the k of a line of 128 bytes of the large operand
constexpr int box_rows = 64; ///< rows of the large operand that one copy brings, if it is stored along k

struct UnpackedProduct {
  CUtensorMap map;  ///< of the large operand
  CUtensorMap edge; ///< for the rows of the last box, if these are fewer and the operand is stored along k
  const char* small;
  int rows, columns;  ///< of D
  int blocks;         ///< blocks of k
  int segment_blocks; ///< blocks of a segment of k
  SegmentSlices cut;
  int tiles;         ///< tiles of 128 rows
  int panels;        ///< panels of columns; an even number if blocks share the large operand
  bool shares_large; ///< the two blocks of a cluster have two panels and one tile, otherwise two tiles and one panel
  float* to;         ///< C, or the planes of sums
  Index row_step, column_step; ///< elements of `to` from row to row, and from column to column, of D
  Index plane;                 ///< elements from plane to plane
  float alpha;                 ///< 1 for planes
  bool with_epilogue;
  EpilogueStore<float> epilogue;
  UnfitLines unfit; ///< where lines are marked whose elements cannot be split
};

/// The stages of both operands. They are rings of their own: the large operand is searched for the scales of the next
/// chunk while this chunk is multiplied, and so needs more stages.
template <int tile_n_, int terms_>
struct Stages {
  static constexpr int tile_n = tile_n_, terms = terms_;
  static constexpr int chunk_blocks = chunk_k / block_k;
  static constexpr unsigned large_bytes = tile_m * block_k * 4;
  static constexpr unsigned term_bytes = tile_n * block_k * 2;
  static constexpr unsigned small_bytes = terms * term_bytes + tile_n * 4; ///< terms, and the factors of their scales
  static constexpr int small_count = tile_n == 128 ? 4 : 6;
  static constexpr int large_count = std::min<int>(12, (shared_limit - 1024 - small_count * small_bytes) / large_bytes);
  static constexpr unsigned bytes = large_count * large_bytes + small_count * small_bytes;
  static_assert(large_count > 2 * chunk_blocks && small_bytes % 128 == 0 && small_bytes / cluster % 16 == 0);

  /// Returns where a stage is. Swizzled boxes begin at multiples of 1024 bytes.
  static __device__ char* large(char* shared, int stage) { return shared + stage * large_bytes; }
  static __device__ char* small(char* shared, int stage) {
    return shared + large_count * large_bytes + stage * small_bytes;
  }
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// The barriers of a ring. If blocks share the operand, the consumers of both empty a stage.
template <int count>
class RingBarriers {
 public:
  __device__ void start(bool shared) {
    for (int s = 0; s < count; ++s) {
      ptx::mbarrier_init(&full[s], 1);
      ptx::mbarrier_init(&empty[s], (shared ? cluster : 1) * consumers * 4);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  /// Tells the producers of the stage that one warp of this block has released it.
  __device__ void release(int stage, int lane, bool shared) {
    if (lane < (shared ? cluster : 1))
      asm volatile(
          "{ .reg .b32 place; mapa.shared::cluster.u32 place, %0, %1; mbarrier.arrive.shared::cluster.b64 _, "
          "[place]; }" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(&empty[stage]))),
          "r"(shared ? lane : static_cast<int>(ptx::get_sreg_cluster_ctarank()))
          : "memory");
  }

  std::uint64_t full[count];  ///< completes when the bytes of the stage have arrived
  std::uint64_t empty[count]; ///< completes when all consumers have released the stage
};

/// A block's unit of work: a tile and a panel, and a slice of k.
struct Work {
  int row, there; ///< first row of the tile, and the number of its rows, which is at most 0 where there is no tile
  int panel;
  int slice;
  int begin, end; ///< blocks of k

  __device__ Work(const UnpackedProduct& x, int index, unsigned rank) {
    const int panels = x.shares_large ? x.panels / cluster : x.panels;
    panel = index % panels;
    const int rest = index / panels;
    slice = rest % x.cut.slices;
    int tile = rest / x.cut.slices;
    (x.shares_large ? panel : tile) *= cluster;
    (x.shares_large ? panel : tile) += static_cast<int>(rank);
    row = tile * tile_m;
    there = min(tile_m, x.rows - row);
    begin = static_cast<int>(x.cut.first(slice)) * x.segment_blocks;
    end = min(x.blocks, static_cast<int>(x.cut.first(slice + 1)) * x.segment_blocks);
  }
  /// Returns the number of units of all clusters.
  static __device__ int count(const UnpackedProduct& x) {
    const int panels = x.shares_large ? x.panels / cluster : x.panels;
    const int tiles = x.shares_large ? x.tiles : (x.tiles + cluster - 1) / cluster;
    return tiles * panels * x.cut.slices;
  }
};

/// Stores a thread's results of a tile: in the rows `rows` of D, and in two columns of every 8 from `column` on.
template <int count>
__device__ void store(const UnpackedProduct& x, const int (&rows)[2], int column, Index plane, bool swapped,
                      const float (&result)[count]) {
  if (x.with_epilogue) [[unlikely]] {
    float held[count]; // in local memory, because the loop is not unrolled
#pragma unroll
    for (int e = 0; e < count; ++e) held[e] = result[e];
#pragma unroll 1
    for (int e = 0; e < count && column + e * 2 < x.columns; e += 4) {
      const float sums[4][1]{{held[e]}, {held[e + 1]}, {held[e + 2]}, {held[e + 3]}};
      x.epilogue.store(
          [&](int v) -> ResultPlace {
            const Index r = rows[v / 2], s = column + e * 2 + v % 2;
            return swapped ? ResultPlace{s, r} : ResultPlace{r, s};
          },
          sums);
    }
    return;
  }
  float* const to = x.to + plane * x.plane + column * x.column_step;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    if (rows[half] >= x.rows) continue;
    float* const from_here = to + rows[half] * x.row_step;
#pragma unroll
    for (int e = 0; e < count; e += 4)
#pragma unroll
      for (int next = 0; next < 2; ++next)
        if (const int s = e * 2 + next; column + s < x.columns)
          from_here[s * x.column_step] = x.alpha * result[e + half * 2 + next];
  }
}

#endif

} // namespace tessera::cuda::wgmma::unpacked
