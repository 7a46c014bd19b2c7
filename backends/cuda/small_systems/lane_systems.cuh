#pragma once

/// Systems of at most 32 rows: a group of 4, 8, 16 or 32 lanes has one, so that a warp has up to eight.

#include "lane_factors.cuh"
#include "systems.cuh"
#include "triangle.cuh"

namespace tessera::cuda {

/// A group's system. All lanes of a warp take every step, also groups after the last system, which repeat it and write
/// nothing.
template <class T, int lanes>
class LaneSystem {
 public:
  using Shared = LaneShared<T, lanes>;
  static constexpr int columns_at_once = 4;

  __device__ LaneSystem(const Systems<T>& systems, Shared& shared, Index number)
      : systems_(systems),
        shared_(shared),
        is_one_(number < systems.count),
        number_(is_one_ ? number : systems.count - 1),
        rank_(static_cast<int>(threadIdx.x) % lanes),
        row_(rank_),
        source_(rank_) {}

  __device__ void run() {
    load();
    __syncwarp();
    if (!systems_.has_factors())
      systems_.is_positive() ? factor_positive() : factor_lu();
    else if (!systems_.is_positive())
      take_pivots();
    __syncwarp();
    if (systems_.keeps_factors()) return store();
    if (systems_.columns == 1) return solve<1>();
    solve<columns_at_once>();
  }

 private:
  __device__ T* matrix() const { return systems_.a_of(number_); }
  __device__ bool is_upper() const { return systems_.is_positive() && systems_.is_upper; }

  /// Copies the matrix, or a triangle as a lower one, row by row of memory.
  __device__ void load() {
    constexpr int at_once = lanes < 8 ? lanes : 8;
    const T* const a = matrix();
    const bool turns = is_upper(), conjugates = systems_.conjugates_triangle();
#pragma unroll 1
    for (int first = 0; first < systems_.m; first += at_once) {
      T read[at_once];
#pragma unroll
      for (int r = 0; r < at_once; ++r) read[r] = is_stored(first + r) ? a[(first + r) * systems_.lda + rank_] : T{};
#pragma unroll
      for (int r = 0; r < at_once; ++r) read[r] = conjugates ? conjugate_of(read[r]) : read[r];
#pragma unroll
      for (int r = 0; r < at_once; ++r)
        if (is_stored(first + r)) (turns ? shared_.a[rank_][first + r] : shared_.a[first + r][rank_]) = read[r];
    }
  }
  /// Is the number in this row of the memory, and in the lane's column, one of the matrix or its triangle?
  __device__ bool is_stored(int row) const {
    return row < systems_.m && rank_ < systems_.n &&
           (is_upper() ? systems_.is_wanted(rank_, row) : systems_.is_wanted(row, rank_));
  }

  __device__ void factor_lu() {
    LaneLu<T, lanes> lu(shared_, rank_, systems_.m, systems_.n);
    lu.run();
    failed_ = lu.failed;
    report();
    if (rank_ < systems_.m) shared_.row_at[lu.place] = rank_;
    __syncwarp();
    if (rank_ < systems_.m) row_ = source_ = shared_.row_at[rank_];
    if (systems_.task == SystemsTask::Lu && is_one_ && rank_ < systems_.m && rank_ < systems_.n)
      systems_.pivots[number_ * systems_.pivot_stride + rank_] = lu.pivot;
  }
  __device__ void factor_positive() {
    LanePositive<T, lanes> factors(shared_, rank_, systems_.n);
    factors.run();
    failed_ = factors.failed;
    report();
  }
  __device__ void report() const {
    if (is_one_ && rank_ == 0 && systems_.info != nullptr) systems_.info[number_] = failed_;
  }

  /// Finds which row of B each row of P·B is.
  __device__ void take_pivots() {
    const int n = systems_.n;
    const int pivot = rank_ < n ? systems_.pivot_of(number_, rank_) : rank_;
    for (int j = 0; j < n; ++j) {
      const int other = __shfl_sync(all_lanes, pivot, j, lanes);
      const int here = __shfl_sync(all_lanes, source_, j, lanes), there = __shfl_sync(all_lanes, source_, other, lanes);
      if (rank_ == j) source_ = there;
      if (rank_ == other) source_ = here;
    }
  }

  __device__ void store() const {
    if (!is_one_ || (systems_.is_positive() && failed_ != 0)) return;
    T* const a = matrix();
    const bool turns = is_upper();
    for (int i = 0; i < systems_.m; ++i)
      if (is_stored(i))
        a[i * systems_.lda + rank_] = turns                    ? shared_.a[rank_][i]
                                      : systems_.is_positive() ? shared_.a[i][rank_]
                                                               : shared_.a[shared_.row_at[i]][rank_];
  }

  /// Returns the triangle in the rows of the factors, or in their columns.
  __device__ LaneTriangle<T> triangle(bool by_columns, bool ascends, bool has_unit_diagonal, bool is_conjugated,
                                      bool is_needed) const {
    const int last = systems_.n - 1, at = rank_ < last ? rank_ : last, row = rank_ < last ? row_ : shared_row_of(last);
    return {.row = by_columns ? &shared_.a[0][at] : &shared_.a[row][0],
            .step = by_columns ? Shared::ld : 1,
            .diagonal = shared_.a[row][at],
            .size = systems_.n,
            .ascends = ascends,
            .has_unit_diagonal = has_unit_diagonal,
            .is_conjugated = is_conjugated,
            .is_needed = is_needed};
  }
  /// Returns the row of the memory in which a row of the factors is.
  __device__ int shared_row_of(int place) const {
    return systems_.is_positive() || systems_.has_factors() ? place : shared_.row_at[place];
  }

  template <int columns>
  __device__ void solve() const {
    const bool writes = is_one_ && rank_ < systems_.n && (failed_ == 0 || !systems_.spares_failed());
    if (__ballot_sync(all_lanes, writes) == 0) return;
    const bool is_positive = systems_.is_positive(),
               is_turned = systems_.task == SystemsTask::LuSolve && systems_.is_transposed;
    const LaneTriangle<T> lower = triangle(is_turned, true, !is_positive && !is_turned, systems_.conjugates_first(),
                                           writes),
                          upper = triangle(is_positive || is_turned, false, is_turned, systems_.conjugates_second(),
                                           writes);
    const int from = is_turned ? rank_ : source_, to = is_turned ? source_ : rank_;
    T* const matrix_b = systems_.b_of(number_);
    const T zeros[columns] = {};
#pragma unroll 1
    for (Index first = 0; first < systems_.columns; first += columns) {
      T b[columns], y[columns], x[columns];
#pragma unroll
      for (int c = 0; c < columns; ++c) {
        const bool is_one = rank_ < systems_.n && first + c < systems_.columns;
        if (systems_.task == SystemsTask::Inverse)
          b[c] = real_number<T>(first + c == from ? 1 : 0);
        else
          b[c] = is_one ? matrix_b[from * systems_.ldb + first + c] : T{};
      }
      solve_square<lanes, columns>(lower, rank_, b, zeros, y);
      solve_square<lanes, columns>(upper, rank_, y, zeros, x);
#pragma unroll
      for (int c = 0; c < columns; ++c)
        if (writes && first + c < systems_.columns) matrix_b[to * systems_.ldb + first + c] = x[c];
    }
  }

  const Systems<T>& systems_;
  Shared& shared_;
  const bool is_one_;
  const Index number_;
  const int rank_;
  int row_;    ///< of shared memory, which has the lane's row of the factors
  int source_; ///< of B, which is the lane's row of P·B
  int failed_ = 0;
};

} // namespace tessera::cuda
