#pragma once

/// The kernel of batches by tensor maps: products of 16-bit operands of one shape, whose operands lie at strides, or
/// which share the rows of A and C with ends that the device reads.
///
/// It multiplies as the kernel of product.cuh does, by blocks that are alone or share columns of op(B) in pairs. The
/// producer warp says which tile comes next: it leaves the tile in shared memory, after the barrier of the tile's
/// first stage. A batch's operands are planes of one tensor map. Rows that end at numbers on the device are rows of one
/// plane: a tile's box may then hold rows of the next product, whose results are not stored. Source: the grouped GEMM
/// of NVIDIA CUTLASS.

#include <variant>

#include <tessera/batch.hpp>

#include "cuda/gemm/common/products_by_ends.cuh"
#include "cuda/gemm/common/programmatic_launch.cuh"
#include "cuda/gemm/common/wgmma_tma/batch.hpp"
#include "deferred_store.cuh"
#include "multiply.cuh"
#include "segment_total.cuh"

namespace tessera::cuda::tma {

/// The kernel's parameters.
struct BatchProduct {
  TensorOperand a, b;
  bool planes_a, planes_b; ///< each product has an operand of its own; otherwise all products read one
  CUtensorMap c;           ///< if in_boxes: C of all products, for the boxes of results that the copy engine stores
  bool in_boxes;
  Output to;    ///< C of the first product; `plane` elements further on is the next one's
  RowEnds ends; ///< if it has numbers, `to.m` are the rows of all products
  int products;
  int tiles_m, tiles_n; ///< tiles of a product, each of a cluster; tiles_m is not known where rows have ends
  int blocks;           ///< blocks of k, each of which fills a stage
  int segment_blocks;   ///< of each segment but the last one
};

/// A tile that a block computes.
struct alignas(16) BatchTile {
  int row, col; ///< of the first result; rows are counted from the first product's where rows have ends
  int row_end;  ///< the product's rows end here
  int product;  ///< negative: there are no more tiles
};

/// Bytes for each of two blocks of a multiprocessor, which has 228 KiB. A block has 2 KiB of static memory besides, and
/// the system reserves one.
constexpr unsigned half_of_shared = (228 / 2 - 3) << 10;

/// The stages of a block, of which there are fewer where a multiprocessor has two blocks.
template <int rows, int tile_n, Sharing sharing>
struct BatchStages : Stages<rows, tile_n, sharing> {
  using Alone = Stages<rows, tile_n, sharing>;
  static constexpr int at_once = BatchTileModel::blocks_at_once(rows, tile_n);
  /// Says whether results of a tile are stored while the next one is multiplied.
  static constexpr bool defers = tile_n > 192;
  static constexpr int count = at_once == 1 ? Alone::count : (half_of_shared - Alone::staging_bytes) / Alone::bytes;
  static constexpr unsigned all_bytes = count * Alone::bytes + Alone::staging_bytes;
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// The list of tiles of all products, in the order of the products. A warp walks it, and each block of a cluster finds
/// its own part of the cluster's tile.
template <class S>
class BatchTiles {
  static constexpr int cluster_rows = S::rows * S::sharers;

 public:
  __device__ BatchTiles(const BatchProduct& x, int rank)
      : x_(x),
        by_ends_(x.ends, x.ends.data == nullptr ? 0 : x.products, x.to.m, cluster_rows,
                 static_cast<unsigned>(x.tiles_n)),
        rank_(rank) {}

  /// Returns tile `number`, which must not be below the one of the call before.
  __device__ BatchTile find(unsigned number) {
    if (x_.ends.data != nullptr) {
      const FoundTile found = by_ends_.find(number);
      if (found.product < 0) return {0, 0, 0, -1};
      const auto begin = static_cast<int>(found.begin), end = static_cast<int>(found.end);
      return place(found.tile, ceil_div(end - begin, cluster_rows), begin, end, found.product);
    }
    const auto each = static_cast<unsigned>(x_.tiles_m) * static_cast<unsigned>(x_.tiles_n);
    const unsigned product = number / each;
    if (product >= static_cast<unsigned>(x_.products)) return {0, 0, 0, -1};
    return place(number - product * each, x_.tiles_m, 0, x_.to.m, static_cast<int>(product));
  }

 private:
  __device__ BatchTile place(unsigned tile, int tiles_m, int begin, int end, int product) const {
    const TileAt at = raster_place_32(tile, static_cast<unsigned>(tiles_m), static_cast<unsigned>(x_.tiles_n),
                                      raster_tiles(S::tile_n));
    return {begin + static_cast<int>(at.down) * cluster_rows + rank_ * S::rows, static_cast<int>(at.across) * S::tile_n,
            end, product};
  }

  const BatchProduct& x_;
  ProductsByEnds by_ends_;
  int rank_;
};

/// The producer: one lane fetches what all lanes have found.
template <MatrixUnitType type, class S, Major a_major, Major b_major>
__device__ void produce_batch(const BatchProduct& x, char* shared, Barriers<S::count, S::sharers>& barriers,
                              BatchTile* tiles) {
  constexpr int block_k = block_k_of(type);
  static_assert(S::sharers == 1 || S::b_own % block_k == 0); // a block fetches whole boxes
  const int rank = S::sharers == 1 ? 0 : static_cast<int>(ptx::get_sreg_cluster_ctarank()), own = rank * S::b_own;
  wait_for_kernel_before();
  BatchTiles<S> list(x, rank);
  Ring<S::count> ring;
  const int stages = stages_beside_sums<type, S>(x.segment_blocks < x.blocks);
  const bool fetches = wgmma::elected();
  for (unsigned number = blockIdx.x / S::sharers;; number += gridDim.x / S::sharers) {
    const BatchTile tile = list.find(number);
    if (fetches) {
      wait(barriers.empty[ring.stage], ring.phase ^ 1); // all consumers have read the tile that was there
      tiles[ring.stage] = tile;
      if (tile.product < 0) {
        wgmma::expect(&barriers.full[ring.stage], 0);
      } else {
        const int plane_b = x.planes_b ? tile.product : 0;
        const OperandRows<type, S::rows, a_major> rows(x.a, tile.row, x.planes_a ? tile.product : 0);
        const OperandRows<type, S::b_own, b_major> columns(x.b, tile.col + own, plane_b);
        const int lines = rows.lines() + OperandRows<type, S::tile_n, b_major>(x.b, tile.col).lines();
        for (int k = 0; k < x.blocks; ++k, ring.advance(stages)) {
          std::uint64_t* const full = &barriers.full[ring.stage];
          wait(barriers.empty[ring.stage], ring.phase ^ 1);
          wgmma::expect(full, static_cast<unsigned>(lines) * 128);
          char* const a = shared + ring.stage * S::bytes;
          rows.fetch(a, k * block_k, full);
          if constexpr (S::sharers == 1)
            columns.fetch(a + S::a_bytes, k * block_k, full);
          else
            columns.fetch(a + S::a_bytes + own * 128, k * block_k, full, std::uint16_t{(1u << S::sharers) - 1});
        }
      }
    }
    __syncwarp();
    if (tile.product < 0) return;
  }
}

template <MatrixUnitType type, class S>
__device__ void consume_batch(const BatchProduct& x, char* shared, Barriers<S::count, S::sharers>& barriers,
                              const BatchTile* tiles) {
  const int warp = static_cast<int>(threadIdx.x) / 32 - 4;
  const int consumer = warp / 4;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int majors = (x.a.major == Major::MN ? 2 : 0) + (x.b.major == Major::MN ? 1 : 0);
  char* const buffers = shared + S::count * static_cast<int>(S::bytes) + warp * staging;
  Output to = S::columns < 192 && S::at_once == 1 ? held(x.to) : x.to; // else registers are few
  [[maybe_unused]] std::conditional_t<S::defers, DeferredRows<type, S::tile_n>, std::monostate> deferred;
  // Results of the last tile, while they are deferred; then sums of this tile's earlier segments.
  [[maybe_unused]] float waiting[S::stashes ? WaitingSums<type, S>::in_registers : 1];
  const int stages = stages_beside_sums<type, S>(x.segment_blocks < x.blocks);
  Ring<S::count> ring;
  wait_for_kernel_before();
  while (true) {
    wait(barriers.full[ring.stage], ring.phase);
    const BatchTile tile = tiles[ring.stage];
    __syncwarp(); // a lane that gives the stage back does so for all lanes
    if (tile.product < 0) break;
    float sum[S::columns / 2];
    SegmentTotal<type, S> total;
    for (int left = x.blocks;;) {
      const int here = min(left, x.segment_blocks); // blocks of k in this segment
      if constexpr (S::columns <= 64)
        with_majors(majors, [&]<Major a, Major b>() {
          multiply_short<type, S, a, b>(sum, shared, barriers, ring, stages, consumer, lane, here);
        });
      else
        multiply_long<type, S>(sum, shared, barriers, ring, stages, consumer, lane, here, majors, x.b.major,
                               [&](int k) {
                                 if constexpr (S::defers) deferred.store_beside(x.c, waiting, buffers, k + 1 == here);
                               });
      total.add(sum, left == x.blocks, left == here, waiting, nullptr, shared, buffers, barriers, ring);
      left -= here;
      if (left == 0) break;
    }
    const auto& result = total.result(sum);
    const int row = tile.row + (S::beside ? warp % 4 : warp) * 16,
              col = tile.col + (S::beside ? consumer * S::columns : 0);
    if constexpr (S::defers) {
      const bool whole = x.ends.data == nullptr || row + box_rows <= tile.row_end; // of its product's rows alone
      if (x.in_boxes && whole) {
        const int plane = x.ends.data == nullptr ? tile.product : 0;
        if (to.narrow) {
          deferred.hold(x.c, to, result, waiting, buffers, row, col, plane);
        } else {
          send_rows<false>(x.c, result, to.alpha, buffers, row, col, plane);
          forget(waiting);
        }
        continue;
      }
      wait_for_boxes<0>(); // the copy engine must have read the buffers, which are needed now
    }
    to.m = tile.row_end;
    store<type>(to, result, buffers, row, col, tile.product,
                S::columns >= 128 || S::at_once > 1 ? lane_from_here() : lane);
    if constexpr (S::defers) forget(waiting);
  }
  if constexpr (S::defers) {
    deferred.store_beside(x.c, waiting, buffers, true);
    wait_for_boxes<0>();
  }
}

#endif

/// The kernel. It is launched in clusters of at least as many blocks as share.
template <MatrixUnitType type, int rows, int tile_n, Sharing sharing>
__global__ void __launch_bounds__(threads, BatchStages<rows, tile_n, sharing>::at_once)
    batch_product(const __grid_constant__ BatchProduct x) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using S = BatchStages<rows, tile_n, sharing>;
  using enum Major;
  extern __shared__ __align__(1024) char shared[];
  __shared__ Barriers<S::count, S::sharers> barriers;
  __shared__ BatchTile tiles[S::count]; // that begin with these stages
  if (threadIdx.x == 32) barriers.start();
  if (threadIdx.x == 64) prefetch<S::rows>(x.a);
  if (threadIdx.x == 96) prefetch<S::b_own>(x.b);
  launch_dependents();
  ptx::barrier_cluster_arrive(ptx::sem_relaxed);
  ptx::barrier_cluster_wait();
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x < 32) {
      if (x.a.major == K && x.b.major == K)
        produce_batch<type, S, K, K>(x, shared, barriers, tiles);
      else if (x.a.major == K)
        produce_batch<type, S, K, MN>(x, shared, barriers, tiles);
      else if (x.b.major == K)
        produce_batch<type, S, MN, K>(x, shared, barriers, tiles);
      else
        produce_batch<type, S, MN, MN>(x, shared, barriers, tiles);
    }
  } else {
    if constexpr (S::at_once == 1)
      asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    else
      asm volatile("setmaxnreg.inc.sync.aligned.u32 96;");
    consume_batch<type, S>(x, shared, barriers, tiles);
  }
  if constexpr (S::sharers == 1) return;
  __syncwarp();
  // A block must not end while the other block may still write into its shared memory.
  ptx::barrier_cluster_arrive(ptx::sem_relaxed);
  ptx::barrier_cluster_wait();
#endif
}

} // namespace tessera::cuda::tma
