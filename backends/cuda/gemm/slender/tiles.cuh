#pragma once

/// The tiles of slender: the kernel's parameters, the part of a tile that a block and a thread compute, and the layout
/// in shared memory.

#include <algorithm>

#include "cuda/gemm/common/async_loader.cuh"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/shared_layout.hpp"

namespace tessera::cuda::slender_tiling {

constexpr int threads = 128; ///< threads of the consumer warps; the producer warps have as many
template <class T>
constexpr int depth = 128 / sizeof(T);

/// The product as slender sees it. The large operand has `length` rows along k, the small one has `count`, and C has
/// one result for each pair of rows.
template <class T>
struct SlenderOperands {
  OperandSlice<T> large, small;
  Along small_along;
  Index length, count, k;
  Index segments;
  T* sums; ///< [segment][count][length], if a block has one of several segments; otherwise nullptr
  /// C and its scalars. C may be seen as Cᵀ, and so has two strides, where ScaledResult has one.
  T* c;
  Index c_large, c_small; ///< along the large and along the small operand's rows
  T alpha, beta;
  bool transposed; ///< the large operand's rows are rows of C, not columns
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
        transposed(!by_columns),
        epilogue(x.epilogue) {}

  /// Returns the place in C of row `row` of the small operand and row `i` of the large one.
  __device__ ResultPlace place(Index row, Index i) const {
    return transposed ? ResultPlace{i, row} : ResultPlace{row, i};
  }
};

/// A block's tile and a thread's part of it: `rows` of the small operand by `wide` rows of the large one; the block
/// works on `together` segments of k at once. Shared memory fills one register of each lane a cycle, so a thread's
/// results form a rectangle, not a column: 4 + 4 reads feed 16 FMAs.
template <int rows_, int wide_, int together_ = 1>
struct Tile {
  static constexpr int rows = rows_, wide = wide_, together = together_;
  static constexpr int team = threads / together; ///< threads that share a segment
  static constexpr int warps_across = wide / 32;
  /// Rows of the small operand for a warp, which has 32 of the large one.
  static constexpr int warp_rows = rows * warps_across * 32 / team;
  static constexpr int groups = warp_rows < 4 ? 1 : warp_rows < 16 ? 2 : 4; ///< groups of lanes, one below the other
  static constexpr int down = warp_rows / groups; ///< a lane's results along the small operand
  static constexpr int across = groups;           ///< and along the large operand
  static constexpr int lanes = 32 / groups;       ///< lanes side by side

  /// Returns the place of a lane among the warp's lanes. Where a warp has several rows of lanes, two of each four
  /// neighbouring lanes share a row and two share a column: a warp's read of shared memory takes half the time if no
  /// more than two of each four neighbours read different places.
  static constexpr __host__ __device__ Place place_of(int lane) {
    return groups == 4 ? z_curve(lane) : groups == 2 ? Place{lane & 1, lane >> 1} : Place{0, lane};
  }
};

/// One stage of both operands. Rows are padded by a vector where that avoids bank conflicts: the large operand's rows
/// if threads read them along k, and the small operand's rows if producers write them along k.
template <class T, class S, Along along>
struct alignas(16) SlenderStage {
  static constexpr int lines = along == Along::K ? S::wide : depth<T>;
  static constexpr int ld = along == Along::K ? depth<T> + Vector<T>::width : S::wide;
  static constexpr int small_ld = S::rows < 8 ? S::rows : S::rows + 4;
  struct alignas(16) Segment {
    alignas(16) T large[lines][ld];
    alignas(16) T small[depth<T>][small_ld];

    /// Returns row i of the large tile at step p.
    __device__ T at(int i, int p) const { return along == Along::K ? large[i][p] : large[p][i]; }
  };
  Segment segment[S::together];
};

/// Stages of a block: enough for the copies under way to cover the latency of a busy memory (docs/lab/cuda_gemm.md).
template <class Stage, int together>
constexpr int stages_of = std::clamp<int>((together == 1 ? 96 : 190) * 1024 / sizeof(Stage), 4, 12);

/// The range of k of one segment.
struct SegmentRange {
  Index begin, end;

  template <class T>
  __device__ SegmentRange(const SlenderOperands<T>& x, Index segment)
      : begin(segment * canonical_segment), end(begin + canonical_segment < x.k ? begin + canonical_segment : x.k) {}
};

} // namespace tessera::cuda::slender_tiling
