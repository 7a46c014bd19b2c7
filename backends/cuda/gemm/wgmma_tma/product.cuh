#pragma once

/// The kernel by tensor maps: C := alpha·op(A)·op(B) + beta·C of operands that are read from where they are, of 16
/// bits, or f32 in tf32.
///
/// Persistent blocks have a producer warp and two consumer warpgroups, as in wgmma_packed/product.cuh, but nothing is
/// packed: tensor maps bring boxes of the operands as they are stored, and the matrix units read 16-bit operands in
/// either direction (tf32_consumers.cuh has the consumers for tf32). Blocks are alone; or two blocks of a cluster share
/// columns of an operand, of which each fetches half for both; or the blocks of a cluster share the results of a tile
/// (cluster_split_k.cuh). While results go to memory, the producer fetches the next tile's stages. NVIDIA CUTLASS has
/// the scheme.

#include <variant>

#include "cluster_split_k.cuh"
#include "column_store.cuh"
#include "deferred_store.cuh"
#include "multiply.cuh"
#include "old_results.cuh"
#include "tf32_consumers.cuh"

namespace tessera::cuda::tma {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

template <MatrixUnitType type, class S, Major a_major, Major b_major>
__device__ void produce(const TmaProduct& x, char* shared, Barriers<S::count, S::sharers>& barriers, unsigned rank,
                        WorkTile<S> work, WorkTile<S>* work_tiles) {
  Ring<S::count> ring;
  const int stages = stages_of<type, S>(x);
  constexpr int block_k = block_k_of(type);
  constexpr std::uint16_t all_blocks = (1u << cluster) - 1;
  // Where half of the columns would not make whole boxes, a block fetches all columns for half of the k.
  constexpr bool halves_k = S::sharing == Sharing::B && b_major == Major::MN && S::b_own % block_k != 0;
  constexpr int own_columns = halves_k ? S::tile_n : S::b_own;
  const int own_k = halves_k ? static_cast<int>(rank) * (block_k / cluster) : 0;
  const int own = S::sharing == Sharing::B && !halves_k ? static_cast<int>(rank) * S::b_own : 0;
  const Clusters<S> clusters(x);
  wait_for_kernel_before();
  for (int index = clusters.first; index < clusters.all; index += clusters.count) {
    if (index != clusters.first) work = WorkTile<S>(x, index, rank);
    const OperandRows<type, S::rows, a_major> a_rows(x.a, work.row);
    const OperandRows<type, own_columns, b_major> columns(x.b, work.col + own);
    if constexpr (producer_leaves_work_tiles<type, S>) {
      wait(barriers.empty[ring.stage], ring.phase ^ 1); // all consumers have read the work tile that was there
      work_tiles[ring.stage] = work;
    }
    const int lines = a_rows.lines() + OperandRows<type, S::tile_n, b_major>(x.b, work.col).lines();
    int segment_end = work.begin + x.segment_blocks;
    for (int k = work.begin; k < work.end; ++k, ring.advance(stages)) {
      if constexpr (WaitingSums<type, S>::in_memory > 0) {
        if (k == segment_end) {
          if (k > x.segment_blocks) fetch_waiting<type, S>(x, shared, barriers, ring);
          segment_end += x.segment_blocks;
        }
      }
      wait(barriers.empty[ring.stage], ring.phase ^ 1);
      std::uint64_t* full = &barriers.full[ring.stage];
      wgmma::expect(full, static_cast<unsigned>(lines) * 128);
      char* const a = shared + ring.stage * S::bytes;
      char* const b = a + S::a_bytes + (own + own_k) * 128;
      a_rows.fetch(a, k * block_k, full);
      if constexpr (S::sharing == Sharing::B)
        columns.fetch(b, k * block_k + own_k, full, all_blocks);
      else
        columns.fetch(b, k * block_k, full);
    }
    if constexpr (WaitingSums<type, S>::in_memory > 0)
      if (work.end - work.begin > x.segment_blocks) fetch_waiting<type, S>(x, shared, barriers, ring);
  }
}
template <MatrixUnitType type, class S, class... Arguments>
__device__ void produce(const TmaProduct& x, Arguments&&... arguments) {
  using enum Major;
  if (x.a.major == K && x.b.major == K)
    produce<type, S, K, K>(x, arguments...);
  else if (x.a.major == K)
    produce<type, S, K, MN>(x, arguments...);
  else if (x.b.major == K)
    produce<type, S, MN, K>(x, arguments...);
  else
    produce<type, S, MN, MN>(x, arguments...);
}

/// Whether a kernel for 16-bit operands can store results of Cᵀ (Tiles::Columns in plan.hpp).
template <class S>
constexpr bool stores_columns = S::tile_n <= 128;

template <MatrixUnitType type, class S, Storing storing>
__device__ void consume(const TmaProduct& x, char* shared, Barriers<S::count, S::sharers>& barriers, Arrivals& arrivals,
                        unsigned rank, const WorkTile<S>* work_tiles, volatile int* begun) {
  constexpr bool with_epilogue = storing == Storing::Epilogue;
  const int thread = static_cast<int>(threadIdx.x) % 128;
  const int consumer = static_cast<int>(threadIdx.x) / 128 - 1;
  const int lane = thread % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32 - 4;
  Ring<S::count> ring;
  const int stages = stages_of<type, S>(x);
  const int majors = (x.a.major == Major::MN ? 2 : 0) + (x.b.major == Major::MN ? 1 : 0);
  const Output in_registers = S::columns < 192 ? held(x.to) : Output{}; // wider tiles leave no registers for it
  const Output& to = S::columns < 192 ? in_registers : x.to;
  constexpr bool defers = S::sends_boxes && !with_epilogue;
  [[maybe_unused]] std::conditional_t<defers, DeferredRows<type, S::tile_n>, std::monostate> deferred;
  // Results of the last tile, while they are deferred; then sums of this tile's earlier segments.
  [[maybe_unused]] float waiting[S::stashes ? WaitingSums<type, S>::in_registers : 1];
  char* const buffers = shared + S::count * static_cast<int>(S::bytes) + warp * staging;
  wait_for_kernel_before();
  const Clusters<S> clusters(x);
  for (int index = clusters.first; index < clusters.all; index += clusters.count) {
    const WorkTile<S> work = producer_leaves_work_tiles<type, S> ? WorkTile<S>(work_tiles, barriers.full, ring)
                                                                 : WorkTile<S>(x, index, rank);
    if constexpr (storing == Storing::AddsC)
      if (threadIdx.x == 128) *begun = index;
    const int blocks = producer_leaves_work_tiles<type, S> ? work.uniform_blocks() : work.blocks();
    float sum[S::columns / 2];
    SegmentTotal<type, S> total;
    for (int left = blocks;;) {
      const int here = min(left, x.segment_blocks); // blocks of k in this segment
      if constexpr (S::columns <= 64) {
        with_majors(majors, [&]<Major a, Major b>() {
          multiply_short<type, S, a, b>(sum, shared, barriers, ring, stages, consumer, lane, here);
        });
      } else {
        multiply_long<type, S>(sum, shared, barriers, ring, stages, consumer, lane, here, majors, x.b.major,
                               [&](int k) {
                                 if constexpr (defers) deferred.store_beside(x.c, waiting, buffers, k + 1 == here);
                               });
      }
      total.add(sum, left == blocks, left == here, waiting, x.stash, shared, buffers, barriers, ring);
      left -= here;
      if (left == 0) break;
    }
    const int row = work.row_of(warp), col = work.col_of(consumer);
    const auto add_old = [&](auto& sums) {
      if constexpr (storing == Storing::AddsC) {
        const auto add = [&]<class R>(R) {
          if constexpr (stores_columns<S>)
            if (x.swapped) return add_old_columns<1, R>(to, x.epilogue, sums, col, row);
          if constexpr (defers) wait_for_boxes<0>(); // the copy engine has read the buffers
          add_old_rows<false, R>(to, x.epilogue, sums, buffers, row, col);
        };
        if (to.narrow)
          add(Narrow<type>{});
        else
          add(float{});
      }
    };
    constexpr bool adds_here = storing == Storing::AddsC && S::sharing != Sharing::Results;
    if constexpr (defers && adds_here) forget(waiting); // nothing waits there now
    auto& result = total.result(sum);
    if constexpr (adds_here) add_old(result);
    if (x.slices > 1 && clusters.is_last(index)) launch_dependents();
    if constexpr (defers) {
      if (!clusters.is_last(index) && x.in_boxes) {
        if (to.narrow) {
          deferred.hold(x.c, to, result, waiting, buffers, row, work.col);
        } else {
          send_rows<false>(x.c, result, to.alpha, buffers, row, work.col);
          forget(waiting);
        }
        continue;
      }
    }
    if constexpr (defers) wait_for_boxes<0>(); // the copy engine must have read the buffers, which are needed now
    const auto store_all = [&](const auto& sums, char* buffer) {
      if constexpr (stores_columns<S>)
        if (x.swapped) {
          if constexpr (with_epilogue)
            store_columns_with_epilogue<1>(x.epilogue, sums, col, row);
          else
            store_columns_of<type>(to, sums, buffer, col, row, work.slice);
          return;
        }
      if constexpr (with_epilogue)
        store_with_epilogue<false>(x.epilogue, sums, buffer, row, col);
      else
        store<type>(to, sums, buffer, row, col, work.slice,
                    S::columns >= 192 ? lane_from_here() : lane); // registers are few
    };
    if constexpr (S::sharing == Sharing::Results) {
      float all[S::columns / 2]{};
      char* const sums = shared + stages * static_cast<int>(S::bytes);
      if (add_cluster_parts<S>(x, result, all, sums, arrivals, warp, lane, static_cast<int>(rank))) {
        add_old(all);
        store_all(all, buffers);
      }
    } else {
      store_all(result, buffers);
      if constexpr (defers) forget(waiting);
    }
  }
}

#endif

/// The kernel. It is launched in clusters. The variants with beta or an epilogue are kernels of their own, because this
/// one uses every register.
template <MatrixUnitType type, int rows, int tile_n, Sharing sharing, Storing storing>
__global__ void __launch_bounds__(threads, 1) product(const __grid_constant__ TmaProduct x) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using S = Stages<rows, tile_n, sharing>;
  extern __shared__ __align__(1024) char shared[];
  __shared__ Barriers<S::count, S::sharers> barriers;
  __shared__ Arrivals arrivals;
  __shared__ WorkTile<S> work_tiles[S::count]; // of the tiles that begin with these stages
  constexpr bool adds_c = storing == Storing::AddsC;
  __shared__ int begun; // the number of the tile that the consumers work on, where C is added
  const unsigned rank = ptx::get_sreg_cluster_ctarank();
  if (threadIdx.x == 32) barriers.start();
  if constexpr (adds_c)
    if (threadIdx.x == 128) begun = -1; // the thread that counts
  if (threadIdx.x == 64) prefetch<S::rows>(x.a);
  if (threadIdx.x == 96) {
    prefetch<S::b_own>(x.b);
    if constexpr (sharing == Sharing::Results) expect_cluster_parts<S>(x, arrivals);
  }
  // The next kernel may start as soon as there is room for it; it waits for our end, as this kernel waits for the one
  // before. The kernel that adds slices is small and would find room at once, on the few multiprocessors without a
  // block of ours. So it is let in only when the last products end.
  if (x.slices == 1) launch_dependents();
  ptx::barrier_cluster_arrive(ptx::sem_relaxed);
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    // This is computed while the barriers are made and the other block starts.
    WorkTile<S> work(x, Clusters<S>(x).first, rank);
    work.hold();
    ptx::barrier_cluster_wait();
    if (threadIdx.x < 32) {
      if (elected()) produce<type, S>(x, shared, barriers, rank, work, work_tiles);
    } else if (adds_c && threadIdx.x < 64) {
      fetch_old_results<S>(x, rank, work, &begun);
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    ptx::barrier_cluster_wait();
    if constexpr (type == MatrixUnitType::Tf32)
      consume_from_registers<S, storing>(x, shared, barriers, arrivals, rank, work_tiles, &begun);
    else
      consume<type, S, storing>(x, shared, barriers, arrivals, rank, work_tiles, &begun);
  }
  if constexpr (sharing != Sharing::B) return; // a block that receives sums has waited for all of them
  __syncwarp();
  // A block must not end while the other block may still write into its shared memory. The barrier is relaxed, because
  // the other block need not see what was written: a releasing barrier would wait until all results are in memory.
  ptx::barrier_cluster_arrive(ptx::sem_relaxed);
  ptx::barrier_cluster_wait();
#endif
}

} // namespace tessera::cuda::tma
