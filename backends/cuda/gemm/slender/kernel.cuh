#pragma once

/// The kernel of slender: a block computes a tile of C over one segment of k, or over all segments, four at a time.

#include "copy_warps.cuh"
#include "cuda/gemm/common/programmatic_launch.cuh"
#include "cuda/gemm/common/stores/results.cuh"

namespace tessera::cuda::slender_tiling {

/// Stores results v = 0 … count − 1, of which sum_of(v) is the sum and place(v) the row of the small operand and the
/// row of the large one. All old results are read before the first is used, because a thread would wait for each read.
template <int count, class T, class SumOf, class PlaceOf>
__device__ void store_slender(const SlenderOperands<T>& x, SumOf sum_of, PlaceOf place) {
  /// Calls f(v, its place in C) for the results that are in C.
  const auto each = [&](auto f) {
#pragma unroll
    for (int v = 0; v < count; ++v)
      if (const ResultPlace at = place(v); at.row < x.count && at.col < x.length)
        f(v, x.c + at.col * x.c_large + at.row * x.c_small);
  };
  T old[count];
  if (x.beta != T{0}) each([&](int v, const T* from) { old[v] = *from; });
  each([&](int v, T* to) { *to = strict_result(sum_of(v), x.alpha, x.beta, old[v]); });
}

/// Waits at a barrier of `count` threads. It is not __syncthreads, because producer and consumer warps come to it from
/// different places in the code.
template <int count>
__device__ void meet(int barrier) {
  asm volatile("barrier.sync %0, %1;" ::"r"(barrier), "n"(count) : "memory");
}

/// Adds the sums of the segments that a block works on at once to the totals of the segments before, in ascending
/// order. This is the second half of the strict sum.
template <class T, class S>
class BlockTotals {
  static constexpr int results = S::rows * S::wide, each = (results + threads - 1) / threads;

 public:
  struct Partial {
    T at[S::together][results];
  };
  /// Returns the index of a result in `Partial`. Neighbours in C are neighbours there.
  __device__ static int place(const SlenderOperands<T>& x, int row, int i) {
    return x.c_large == 1 ? row * S::wide + i : i * S::rows + row;
  }

  /// Adds the sums of `count` segments. All consumer threads call it.
  __device__ void add(const Partial& partial, int thread, int count, bool first) {
    meet<threads>(1);
#pragma unroll
    for (int v = 0; v < each; ++v)
      if (const int e = thread + v * threads; e < results) {
        total_[v] = first ? partial.at[0][e] : total_[v] + partial.at[0][e];
        for (int s = 1; s < count; ++s) total_[v] += partial.at[s][e];
      }
    meet<threads>(1);
  }
  __device__ void store(const SlenderOperands<T>& x, int thread, Index first_row, Index first) const {
    const auto place_of = [&](int v) -> ResultPlace {
      const int e = thread + v * threads;
      if (e >= results) return {x.count, x.length}; // which no result is in
      return {first_row + (x.c_large == 1 ? e / S::wide : e % S::rows),
              first + (x.c_large == 1 ? e % S::wide : e / S::rows)};
    };
    if (x.epilogue.wanted) [[unlikely]] {
#pragma unroll
      for (int v = 0; v < each; ++v)
        if (thread + v * threads < results)
          x.epilogue.store([&](int) { return x.place(place_of(v).row, place_of(v).col); }, {{total_[v]}});
      return;
    }
    store_slender<each>(
        x, [&](int v) { return total_[v]; }, place_of);
  }

 private:
  T total_[each];
};

/// The minimum of one block makes ptxas keep all registers: it would spill to fit four blocks, but shared memory has
/// room for no more than two.
template <class T, class S, Along along>
__global__ void __launch_bounds__(2 * threads, 1) multiply(SlenderOperands<T> x) {
  using Stage = SlenderStage<T, S, along>;
  constexpr int stages = stages_of<Stage, S::together>;
  constexpr Index steps = canonical_segment / depth<T>; ///< steps of a full segment
  extern __shared__ float4 shared[];
  auto* const stage = reinterpret_cast<Stage*>(shared);
  const auto groups = static_cast<unsigned>(ceil_div<Index>(x.count, S::rows));
  const auto segment_blocks = S::together == 1 ? static_cast<unsigned>(x.segments) : 1;
  const Index first_row = static_cast<Index>(blockIdx.x % groups) * S::rows;
  const Index first = static_cast<Index>(blockIdx.x / groups / segment_blocks) * S::wide;
  const int thread = static_cast<int>(threadIdx.x) % threads;
  const int team = thread / S::team;
  /// Returns this thread's segment at a step of the block.
  const auto segment_at = [&](Index step) {
    return S::together == 1 ? Index{blockIdx.x / groups % segment_blocks} : step / steps * S::together + team;
  };
  // Of the segments that are worked on at the same time, the first one is the longest.
  const Index last = S::together == 1 ? segment_at(0) : (x.segments - 1) / S::together * S::together;
  const SegmentRange last_range(x, last);
  const Index all_steps = (S::together == 1 ? 0 : last / S::together * steps) +
                          ceil_div<Index>(last_range.end - last_range.begin, depth<T>);

  // Where another kernel adds the sums, it must not start before our multiprocessors are done.
  if (x.sums == nullptr) launch_dependents();
  wait_for_kernel_before();
  if (threadIdx.x >= threads) {
    const auto copier_at = [&](Index step) {
      return TileCopier<T, S, along>(x, first_row, first, SegmentRange(x, segment_at(step)), thread % S::team);
    };
    TileCopier<T, S, along> copier = copier_at(0);
    const auto start = [&](Index step, int to) {
      if (step < all_steps) {
        if (S::together > 1 && step % steps == 0) copier = copier_at(step);
        const SegmentRange range(x, segment_at(step));
        const Index k0 = step % steps * depth<T>;
        if (k0 < range.end - range.begin) copier.copy(x, k0, stage[to].segment[team]);
      }
      __pipeline_commit();
    };
#pragma unroll 1
    for (int s = 0; s + 1 < stages; ++s) start(s, s);
    int current = 0;
    for (Index step = 0; step < all_steps; ++step) {
      __pipeline_wait_prior(stages - 2);
      meet<2 * threads>(2); // this stage is full, and all have read the stage before it
      start(step + stages - 1, current == 0 ? stages - 1 : current - 1);
      current = current + 1 == stages ? 0 : current + 1;
    }
    launch_dependents();
    return;
  }

  // Rows that are neighbours in the large tile as it is stored go to one thread as a vector, or to neighbouring lanes.
  const int lane = thread % 32, warp = thread % S::team / 32;
  const Place at = S::place_of(lane);
  const int small_row = warp / S::warps_across * S::warp_rows + at.down * S::down;
  const int large_row = warp % S::warps_across * 32 + at.across * (along == Along::K ? 1 : S::across);
  constexpr int apart = along == Along::K ? S::lanes : 1;
  T sum[S::down][S::across] = {};
  BlockTotals<T, S> totals;
  int current = 0;
  for (Index step = 0; step < all_steps; ++step) {
    meet<2 * threads>(2);
    const SegmentRange range(x, segment_at(step));
    if (S::together == 1 || range.begin + step % steps * depth<T> < range.end) {
      const auto& now = stage[current].segment[team];
      // The only warp of a scheduler has to hide its own reads: what it reads is used some steps later.
      constexpr int ahead = S::across * S::down < 32 ? 4 : 2;
      // More would not fit into the instruction cache.
      constexpr int unrolled = S::across * S::down < 32 ? depth<T> : 8;
      T a[ahead][S::down], b[ahead][S::across];
      const auto read = [&](int slot, int p) {
#pragma unroll
        for (int r = 0; r < S::down; ++r) a[slot][r] = now.small[p][small_row + r];
#pragma unroll
        for (int c = 0; c < S::across; ++c) b[slot][c] = now.at(large_row + c * apart, p);
      };
#pragma unroll
      for (int p = 0; p < ahead; ++p) read(p, p);
#pragma unroll 1
      for (int p0 = 0; p0 < depth<T>; p0 += unrolled)
#pragma unroll
        for (int p = 0; p < unrolled; ++p) {
#pragma unroll
          for (int r = 0; r < S::down; ++r)
#pragma unroll
            for (int c = 0; c < S::across; ++c) sum[r][c] = fused(a[p % ahead][r], b[p % ahead][c], sum[r][c]);
          if (p0 + p + ahead < depth<T>) read(p % ahead, p0 + p + ahead);
        }
    }
    current = current + 1 == stages ? 0 : current + 1;
    if constexpr (S::together > 1) {
      if ((step + 1) % steps != 0 && step + 1 < all_steps) continue;
      __shared__ typename BlockTotals<T, S>::Partial partial;
#pragma unroll
      for (int r = 0; r < S::down; ++r)
#pragma unroll
        for (int c = 0; c < S::across; ++c) {
          partial.at[team][BlockTotals<T, S>::place(x, small_row + r, large_row + c * apart)] = sum[r][c];
          sum[r][c] = T{0};
        }
      const Index before = step / steps * S::together;
      totals.add(partial, thread, static_cast<int>(min(Index{S::together}, x.segments - before)), before == 0);
    }
  }
  launch_dependents();
  if constexpr (S::together > 1) {
    totals.store(x, thread, first_row, first);
  } else if (x.segments == 1 && x.epilogue.wanted) [[unlikely]] {
    T held[S::down][S::across][1]; // in local memory, because the loop is not unrolled
#pragma unroll
    for (int r = 0; r < S::down; ++r)
#pragma unroll
      for (int c = 0; c < S::across; ++c) held[r][c][0] = sum[r][c];
#pragma unroll 1
    for (int r = 0; r < S::down; ++r)
      x.epilogue.store([&](int c) { return x.place(first_row + small_row + r, first + large_row + c * apart); },
                       held[r]);
  } else if (x.segments == 1) {
    store_slender<S::down * S::across>(
        x, [&](int v) { return sum[v / S::across][v % S::across]; },
        [&](int v) -> ResultPlace {
          return {first_row + small_row + v / S::across, first + large_row + v % S::across * apart};
        });
  } else {
#pragma unroll
    for (int r = 0; r < S::down; ++r)
#pragma unroll
      for (int c = 0; c < S::across; ++c) {
        const Index row = first_row + small_row + r, i = first + large_row + c * apart;
        if (row < x.count && i < x.length) x.sums[(segment_at(0) * x.count + row) * x.length + i] = sum[r][c];
      }
  }
}

} // namespace tessera::cuda::slender_tiling
