#pragma once

/// Cholesky's factor of a block's matrix, in strips of 16 columns. The first warp factors the strip's square on the
/// diagonal; then each thread finds the strip's numbers of its rows.

#include "block_update.cuh"
#include "lane_factors.cuh"

namespace tessera::cuda {

template <class T, int each>
class BlockPositive {
  static constexpr int width = block_strip;

 public:
  /// Number (i, j) of the lower triangle is a[i·of_row + j·of_column].
  __device__ BlockPositive(const BlockShared<T>& shared, const T* a, Index of_row, Index of_column, int n)
      : shared_(shared),
        a_(a),
        of_row_(of_row),
        of_column_(of_column),
        n_(n),
        me_(static_cast<int>(threadIdx.x)),
        threads_(static_cast<int>(blockDim.x)) {}

  __device__ void run() {
    for (int i = me_; i < n_ * shared_.ld; i += threads_) shared_.matrix[i] = 0;
    if (me_ == 0) *shared_.failed = 0;
#pragma unroll 1
    for (int first = 0; first < n_; first += width) {
      load(first);
      factor_square(first);
      __syncthreads();
      const int begin = first + width;
      if (begin >= n_) break;
      solve_rows(first);
      __syncthreads();
      const auto factors = [&](int col, T(&to)[width]) { read_vectors(to, &shared_.at(col, first)); };
      extend_sums_right(shared_, n_, n_, first, begin, factors, LowerRows{});
    }
    __syncthreads();
  }

 private:
  struct LowerRows {
    __device__ bool any_of(int top, int rows, int col) const { return top + rows > col; }
    __device__ bool operator()(int row, int col) const { return row >= col; }
  };

  __device__ int row_of(int r) const { return r * threads_ + me_; }

  /// Reads the strip: sums to registers, and the caller's numbers to their places.
  __device__ void load(int first) {
    __syncthreads();
#pragma unroll
    for (int r = 0; r < each; ++r)
#pragma unroll
      for (int i = 0; i < width; ++i) s_[r][i] = row_of(r) < n_ ? shared_.at(row_of(r), first + i) : T(0);
    if (me_ < width) {
#pragma unroll
      for (int i = 0; i < width; ++i) square_[i] = first + me_ < n_ ? shared_.at(first + me_, first + i) : T(0);
    }
    __syncthreads();
    const int rows = n_ - first, columns = rows < width ? rows : width;
#pragma unroll 4
    for (int i = me_; i < rows * width; i += threads_) {
      const bool by_columns = of_row_ == 1;
      const int row = first + (by_columns ? i % rows : i / width), col = first + (by_columns ? i / rows : i % width);
      if (col <= row && col - first < columns) shared_.at(row, col) = a_[row * of_row_ + col * of_column_];
    }
    __syncthreads();
  }

  /// Factors the square on the diagonal, by the first warp.
  __device__ void factor_square(int first) {
    if (me_ >= 32) return;
    const int rank = me_ % width, here = n_ - first < width ? n_ - first : width;
    const bool is_row = me_ < here;
#pragma unroll 1
    for (int j = 0; j < here; ++j) {
      T* const column = shared_.offers[j % 2][0];
      const bool is_one = is_row && rank >= j;
      const T value = is_one ? shared_.at(first + rank, first + j) - square_[0] : T(0);
      const T square = __shfl_sync(all_lanes, value, j);
      const bool is_positive = square > T(0);
      const T root = sqrt(is_positive ? square : T(1)), l = rank == j ? root : value / root;
      if (is_one) {
        shared_.at(first + rank, first + j) = l;
        column[rank - j] = l;
      }
      if (!is_positive && me_ == 0 && *shared_.failed == 0) *shared_.failed = first + j + 1;
      __syncwarp();
      T others[width];
      read_vectors(others, column);
#pragma unroll
      for (int i = 1; i < width; ++i) square_[i - 1] = fma(l, others[i], square_[i]);
    }
  }

  /// Finds the strip's numbers in the rows below the square.
  __device__ void solve_rows(int first) {
#pragma unroll
    for (int r = 0; r < each; ++r) {
      const int row = row_of(r);
      if (row < first + width || row >= n_) continue;
#pragma unroll
      for (int c = 0; c < width; ++c) {
        const T l = (shared_.at(row, first + c) - s_[r][c]) / shared_.at(first + c, first + c);
        shared_.at(row, first + c) = l;
#pragma unroll
        for (int i = c + 1; i < width; ++i) s_[r][i] = fma(l, shared_.at(first + i, first + c), s_[r][i]);
      }
    }
  }

  const BlockShared<T>& shared_;
  const T* a_;
  const Index of_row_, of_column_;
  const int n_, me_, threads_;
  T s_[each][width];
  T square_[width] = {}; ///< of the first warp: the sums of the square's row
};

} // namespace tessera::cuda
