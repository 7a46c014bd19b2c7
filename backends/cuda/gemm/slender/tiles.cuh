#pragma once

/// The tiles of slender: what the kernel is told, a block's and a thread's part of it, and how it lies in shared
/// memory.

#include <algorithm>

#include "cuda/gemm/common/async_loader.cuh"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/shared_layout.hpp"

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
  EpilogueStore<T> epilogue;

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
        epilogue(x.epilogue) {}

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

  /// A lane's place among them. Of four neighbours two share a row and two a column, where there are several rows: a
  /// warp's read of shared memory takes half the time if of each four neighbours no more than two want different
  /// places.
  static constexpr __host__ __device__ Place place_of(int lane) {
    return groups == 4 ? z_curve(lane) : groups == 2 ? Place{lane & 1, lane >> 1} : Place{0, lane};
  }
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

} // namespace tessera::cuda::slender_tiling
