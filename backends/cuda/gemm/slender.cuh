#pragma once

/// The kernel of slender: a tile of C over one segment of k, or over all of them, four at a time.
///
/// Tiles come by cp.async, many ahead, through warps of their own: with one computing warp a scheduler, nothing else
/// would hide what starting a copy costs.

#include <algorithm>
#include <type_traits>

#include "async_loader.cuh"
#include "early_launch.cuh"
#include "grid.cuh"

namespace tessera::cuda::slender_tiling {

constexpr int threads = 128; ///< that compute, and as many that copy for them
template <class T>
constexpr int depth = 128 / sizeof(T);

/// The large operand by rows of `length`, the small one by `count`; C has one for each pair.
template <class T>
struct SlenderOperands {
  OperandSlice<T> large, small;
  Along small_along;
  Index length, count, k;
  Index segments;
  T* sums; ///< [segment][count][length], if a block has one segment of several
  T* c;
  Index c_large, c_small; ///< strides of C along the two
  T alpha, beta;
  bool turned; ///< the large operand's rows are C's, not its columns
  Finish<T> finish;

  SlenderOperands(const VectorOperands<T>& x, bool by_columns, Along a_along, Along b_along)
      : large(by_columns ? slice_b(x, b_along, 0) : slice_a(x, a_along, 0)),
        small(by_columns ? slice_a(x, a_along, 0) : slice_b(x, b_along, 0)),
        small_along(by_columns ? a_along : b_along),
        length(by_columns ? x.n : x.m),
        count(by_columns ? x.m : x.n),
        k(x.k),
        segments(ceil_div(x.k, canonical_segment)),
        sums(nullptr),
        c(x.c),
        c_large(by_columns ? 1 : x.ldc),
        c_small(by_columns ? x.ldc : 1),
        alpha(x.alpha),
        beta(x.beta),
        turned(!by_columns),
        finish(x.finish) {}

  /// Of row `row` of the small operand and row `i` of the large one.
  __device__ ResultPlace place(Index row, Index i) const { return turned ? ResultPlace{i, row} : ResultPlace{row, i}; }
};

/// A block's tile: `rows` of the small operand by `wide` of the large one, and how many segments of k it works on at
/// once; and a thread's part of it. Shared memory fills one register of each lane a cycle, so results are shared out in
/// rectangles, not in columns: 4 + 4 reads feed 16 FMAs.
template <int rows_, int wide_, int together_ = 1>
struct Tile {
  static constexpr int rows = rows_, wide = wide_, together = together_;
  static constexpr int team = threads / together; ///< threads that share a segment
  static constexpr int warps_across = wide / 32;
  static constexpr int warp_rows = rows * warps_across * 32 / team;         ///< by 32 of the large operand
  static constexpr int groups = warp_rows < 4 ? 1 : warp_rows < 16 ? 2 : 4; ///< of lanes, one below the other
  static constexpr int down = warp_rows / groups;                           ///< results along the small operand
  static constexpr int across = groups;                                     ///< and along the large one
  static constexpr int lanes = 32 / groups;                                 ///< side by side
};

/// Rows of both tiles are padded by a vector where that keeps warps from bank conflicts: the large one's if its threads
/// read it along k, the small one's for when it is written along k.
template <class T, class S, Along along>
struct alignas(16) SlenderStage {
  static constexpr int lines = along == Along::K ? S::wide : depth<T>;
  static constexpr int ld = along == Along::K ? depth<T> + Vector<T>::width : S::wide;
  static constexpr int small_ld = S::rows < 8 ? S::rows : S::rows + 4;
  struct alignas(16) Segment {
    alignas(16) T large[lines][ld];
    alignas(16) T small[depth<T>][small_ld];

    /// Row i of the large tile at step p.
    __device__ T at(int i, int p) const { return along == Along::K ? large[i][p] : large[p][i]; }
  };
  Segment segment[S::together];
};

/// Memory answers after about two microseconds when it is busy: 45 KiB a multiprocessor have to be under way.
template <class Stage, int together>
constexpr int stages_of = std::clamp<int>((together == 1 ? 96 : 190) * 1024 / sizeof(Stage), 4, 12);

/// Where this thread's segment begins and ends.
struct SegmentRange {
  Index begin, end;

  template <class T>
  __device__ SegmentRange(const SlenderOperands<T>& x, Index segment)
      : begin(segment * canonical_segment), end(begin + canonical_segment < x.k ? begin + canonical_segment : x.k) {}
};

/// One segment of k of an operand, from row `first` on.
template <class T>
__device__ OperandSlice<T> segment_slice(OperandSlice<T> x, Along stored, Index first, const SegmentRange& range) {
  x.first = first;
  x.data += range.begin * (stored == Along::K ? 1 : x.stride);
  x.k = range.end - range.begin;
  return x;
}

/// Brings tiles of one segment of both operands, one after the other.
template <class T, class S, Along along>
class Copier {
  static constexpr bool few = S::rows < 16; ///< of the small operand: element by element
  struct Nothing {
    __device__ Nothing(const OperandSlice<T>&, int) {}
  };
  template <Along small_along>
  using SmallLoader =
      std::conditional_t<few, Nothing, AsyncTileLoader<T, few ? 16 : S::rows, depth<T>, S::team, small_along>>;

 public:
  __device__ Copier(const SlenderOperands<T>& x, Index first_row, Index first, const SegmentRange& range, int thread)
      : thread_(thread),
        large_(segment_slice(x.large, along, first, range), thread),
        small_(segment_slice(x.small, x.small_along, first_row, range)),
        small_along_k_(small_, thread),
        small_along_rows_(small_, thread) {}

  template <class Segment>
  __device__ void copy(const SlenderOperands<T>& x, Index k0, Segment& to) {
    large_.copy(k0, to.large);
    if constexpr (few)
      copy_few(x.small_along, k0, to.small);
    else if (x.small_along == Along::K)
      small_along_k_.copy(k0, to.small);
    else
      small_along_rows_.copy(k0, to.small);
  }

 private:
  template <int ld>
  __device__ void copy_few(Along stored, Index k0, T (&tile)[depth<T>][ld]) const {
#pragma unroll
    for (int e = thread_; e < S::rows * depth<T>; e += S::team) {
      const int row = e / depth<T>, p = e % depth<T>;
      const Index i = small_.first + row;
      if (i < small_.outer && k0 + p < small_.k)
        __pipeline_memcpy_async(
            &tile[p][row],
            small_.data + (stored == Along::K ? i * small_.stride + k0 + p : (k0 + p) * small_.stride + i), sizeof(T));
      else
        tile[p][row] = small_.padding;
    }
  }

  int thread_;
  AsyncTileLoader<T, S::wide, depth<T>, S::team, along, false> large_;
  OperandSlice<T> small_;
  SmallLoader<Along::K> small_along_k_;
  SmallLoader<Along::Outer> small_along_rows_;
};

/// C's element of row `row` of the small operand and row `i` of the large one.
template <class T>
__device__ void store_slender(const SlenderOperands<T>& x, Index row, Index i, T sum) {
  if (row < x.count && i < x.length) store_result(x.c + i * x.c_large + row * x.c_small, sum, x.alpha, x.beta);
}

/// A barrier of `count` threads; the two kinds of warps come to it from different places, so it is not __syncthreads.
template <int count>
__device__ void meet(int barrier) {
  asm volatile("barrier.sync %0, %1;" ::"r"(barrier), "n"(count) : "memory");
}

/// The sums of the segments that a block works on at once, added in ascending order to those of the ones before: the
/// canonical summation's second half.
template <class T, class S>
class Totals {
  static constexpr int results = S::rows * S::wide, each = (results + threads - 1) / threads;

 public:
  struct Partial {
    T at[S::together][results];
  };
  /// Where a result lies: neighbours in C are neighbours.
  __device__ static int place(const SlenderOperands<T>& x, int row, int i) {
    return x.c_large == 1 ? row * S::wide + i : i * S::rows + row;
  }

  /// By all that compute; `count` of the segments exist.
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
#pragma unroll
    for (int v = 0; v < each; ++v)
      if (const int e = thread + v * threads; e < results) {
        const Index row = first_row + (x.c_large == 1 ? e / S::wide : e % S::rows);
        const Index i = first + (x.c_large == 1 ? e % S::wide : e / S::rows);
        if (x.finish.wanted) [[unlikely]]
          x.finish.store([&](int) { return x.place(row, i); }, {{total_[v]}});
        else
          store_slender(x, row, i, total_[v]);
      }
  }

 private:
  T total_[each];
};

template <class T, class S, Along along>
__global__ void __launch_bounds__(2 * threads) multiply(SlenderOperands<T> x) {
  using Stage = SlenderStage<T, S, along>;
  constexpr int stages = stages_of<Stage, S::together>;
  constexpr Index steps = canonical_segment / depth<T>; ///< of a segment
  extern __shared__ float4 shared[];
  auto* const stage = reinterpret_cast<Stage*>(shared);
  const auto groups = static_cast<unsigned>(ceil_div<Index>(x.count, S::rows));
  const auto segment_blocks = S::together == 1 ? static_cast<unsigned>(x.segments) : 1;
  const Index first_row = static_cast<Index>(blockIdx.x % groups) * S::rows;
  const Index first = static_cast<Index>(blockIdx.x / groups / segment_blocks) * S::wide;
  const int thread = static_cast<int>(threadIdx.x) % threads;
  const int part = thread / S::team;
  /// This thread's segment at a step of the block.
  const auto segment_at = [&](Index step) {
    return S::together == 1 ? Index{blockIdx.x / groups % segment_blocks} : step / steps * S::together + part;
  };
  // Of all segments that are worked on together, the first one is the longest.
  const Index last = S::together == 1 ? segment_at(0) : (x.segments - 1) / S::together * S::together;
  const SegmentRange last_range(x, last);
  const Index all_steps = (S::together == 1 ? 0 : last / S::together * steps) +
                          ceil_div<Index>(last_range.end - last_range.begin, depth<T>);

  if (threadIdx.x >= threads) {
    const auto copier_at = [&](Index step) {
      return Copier<T, S, along>(x, first_row, first, SegmentRange(x, segment_at(step)), thread % S::team);
    };
    Copier<T, S, along> copier = copier_at(0);
    const auto start = [&](Index step, int to) {
      if (step < all_steps) {
        if (S::together > 1 && step % steps == 0) copier = copier_at(step);
        const SegmentRange range(x, segment_at(step));
        const Index k0 = step % steps * depth<T>;
        if (k0 < range.end - range.begin) copier.copy(x, k0, stage[to].segment[part]);
      }
      __pipeline_commit();
    };
#pragma unroll 1
    for (int s = 0; s + 1 < stages; ++s) start(s, s);
    int current = 0;
    for (Index step = 0; step < all_steps; ++step) {
      __pipeline_wait_prior(stages - 2);
      meet<2 * threads>(2); // this stage is full, and the one before it has been used
      start(step + stages - 1, current == 0 ? stages - 1 : current - 1);
      current = current + 1 == stages ? 0 : current + 1;
    }
    launch_dependents();
    return;
  }

  // Neighbours along the way in which the large tile is stored go to one thread as a vector, or to neighbouring lanes.
  const int lane = thread % 32, warp = thread % S::team / 32;
  const int small_row = warp / S::warps_across * S::warp_rows + lane / S::lanes * S::down;
  const int large_row = warp % S::warps_across * 32 + lane % S::lanes * (along == Along::K ? 1 : S::across);
  constexpr int apart = along == Along::K ? S::lanes : 1;
  T sum[S::down][S::across] = {};
  Totals<T, S> totals;
  int current = 0;
  for (Index step = 0; step < all_steps; ++step) {
    meet<2 * threads>(2);
    const SegmentRange range(x, segment_at(step));
    if (S::together == 1 || range.begin + step % steps * depth<T> < range.end) {
      const auto& now = stage[current].segment[part];
      // One warp a scheduler waits for shared memory itself: what it reads is used some steps later.
      constexpr int ahead = S::across * S::down < 32 ? 4 : 2;
      constexpr int unrolled = S::across * S::down < 32 ? depth<T> : 8; // more would not fit into the instruction cache
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
      __shared__ typename Totals<T, S>::Partial partial;
#pragma unroll
      for (int r = 0; r < S::down; ++r)
#pragma unroll
        for (int c = 0; c < S::across; ++c) {
          partial.at[part][Totals<T, S>::place(x, small_row + r, large_row + c * apart)] = sum[r][c];
          sum[r][c] = T{0};
        }
      const Index before = step / steps * S::together;
      totals.add(partial, thread, static_cast<int>(min(Index{S::together}, x.segments - before)), before == 0);
    }
  }
  launch_dependents();
  if constexpr (S::together > 1) {
    totals.store(x, thread, first_row, first);
  } else if (x.segments == 1 && x.finish.wanted) [[unlikely]] {
    T held[S::down][S::across][1]; // in local memory: the loop is not unrolled
#pragma unroll
    for (int r = 0; r < S::down; ++r)
#pragma unroll
      for (int c = 0; c < S::across; ++c) held[r][c][0] = sum[r][c];
#pragma unroll 1
    for (int r = 0; r < S::down; ++r)
      x.finish.store([&](int c) { return x.place(first_row + small_row + r, first + large_row + c * apart); }, held[r]);
  } else {
#pragma unroll
    for (int r = 0; r < S::down; ++r)
#pragma unroll
      for (int c = 0; c < S::across; ++c) {
        const Index row = first_row + small_row + r, i = first + large_row + c * apart;
        if (x.segments == 1)
          store_slender(x, row, i, sum[r][c]);
        else if (row < x.count && i < x.length)
          x.sums[(segment_at(0) * x.count + row) * x.length + i] = sum[r][c];
      }
  }
}

} // namespace tessera::cuda::slender_tiling
