#pragma once

/// Cholesky's factor of a block's matrix, in strips of columns. The first warp factors the strip's square on the
/// diagonal; then each thread finds the strip's numbers of its row.

#include "block_update.cuh"
#include "lane_factors.cuh"

namespace tessera::cuda {

template <class T>
class BlockPositive {
  static constexpr int width = block_strip<T>;

 public:
  /// Number (i, j) of the lower triangle is a[i·of_row + j·of_column], or its conjugate.
  __device__ BlockPositive(const BlockShared<T>& shared, const T* a, Index of_row, Index of_column, bool conjugates,
                           int n)
      : shared_(shared),
        a_(a),
        of_row_(of_row),
        of_column_(of_column),
        conjugates_(conjugates),
        n_(n),
        me_(static_cast<int>(threadIdx.x)),
        threads_(static_cast<int>(blockDim.x)) {}

  __device__ void run() {
    for (int i = me_; i < n_ * shared_.ld; i += threads_) shared_.matrix[i] = T{};
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
      const auto factors = [&](int col, T(&to)[width]) {
        read_vectors(to, &shared_.at(col, first));
#pragma unroll
        for (T& factor : to) factor = conjugate_of(factor);
      };
      extend_sums_right(shared_, n_, n_, first, begin, factors, LowerRows{});
    }
    __syncthreads();
  }

 private:
  struct LowerRows {
    __device__ bool any_of(int top, int rows, int col) const { return top + rows > col; }
    __device__ bool operator()(int row, int col) const { return row >= col; }
  };

  /// Reads the strip: sums to registers, and the caller's numbers to their places.
  __device__ void load(int first) {
    __syncthreads();
#pragma unroll
    for (int i = 0; i < width; ++i) s_[i] = me_ < n_ ? shared_.at(me_, first + i) : T{};
    if (me_ < width) {
#pragma unroll
      for (int i = 0; i < width; ++i) square_[i] = first + me_ < n_ ? shared_.at(first + me_, first + i) : T{};
    }
    __syncthreads();
    if (of_row_ == 1)
      load_columns(first);
    else
      load_rows(first);
    __syncthreads();
  }

  __device__ T number(T read) const { return conjugates_ ? conjugate_of(read) : read; }
  /// Reads the strip of a triangle whose rows are rows in memory.
  __device__ void load_rows(int first) {
    constexpr int some = 8; // rows whose numbers are under way at a time
    const int rank = me_ % width, col = first + rank, at_once = threads_ / width;
#pragma unroll 1
    for (int top = first + me_ / width; top < n_; top += some * at_once) {
      T read[some];
#pragma unroll
      for (int q = 0; q < some; ++q) {
        const int row = top + q * at_once;
        read[q] = row < n_ && col <= row ? a_[row * of_row_ + col] : T{};
      }
#pragma unroll
      for (int q = 0; q < some; ++q)
        if (const int row = top + q * at_once; row < n_ && col <= row) shared_.at(row, col) = number(read[q]);
    }
  }
  /// Reads the strip of a triangle whose rows are columns in memory.
  __device__ void load_columns(int first) {
#pragma unroll 1
    for (int row = first + me_; row < n_; row += threads_) {
      T read[width];
#pragma unroll
      for (int c = 0; c < width; ++c) read[c] = first + c <= row ? a_[row + (first + c) * of_column_] : T{};
#pragma unroll
      for (int c = 0; c < width; ++c)
        if (first + c <= row) shared_.at(row, first + c) = number(read[c]);
    }
  }

  /// Factors the square on the diagonal, by the first warp.
  __device__ void factor_square(int first) {
    if (me_ >= 32) return;
    const int rank = me_ % width, here = n_ - first < width ? n_ - first : width;
    const bool is_row = me_ < here;
    int failed = *shared_.failed;
    __syncwarp();
#pragma unroll 1
    for (int j = 0; j < here; ++j) {
      T* const column = shared_.offers[j % 2][0];
      const bool is_one = is_row && rank >= j;
      const T value = is_one && failed == 0 ? shared_.at(first + rank, first + j) - square_[0] : T{};
      const PartOf<T> square = __shfl_sync(all_lanes, real_part_of(value), j);
      const bool is_positive = square > 0;
      if (!is_positive && failed == 0) failed = first + j + 1;
      const T l = divided_by_root(value, is_positive ? square : PartOf<T>(1), rank == j);
      if (is_one) {
        shared_.at(first + rank, first + j) = l;
        column[rank - j] = conjugate_of(l);
      }
      __syncwarp();
      T others[width];
      read_vectors(others, column);
#pragma unroll
      for (int i = 1; i < width; ++i) square_[i - 1] = multiply_add(l, others[i], square_[i]);
    }
    if (me_ == 0) *shared_.failed = failed;
    if (me_ < here) shared_.unknowns[me_] = real_number<T>(1 / real_part_of(shared_.at(first + me_, first + me_)));
  }

  /// Finds the strip's numbers in the rows below the square. `unknowns` has the reciprocals of its diagonal.
  __device__ void solve_rows(int first) {
    if (me_ < first + width || me_ >= n_) return;
    T l[width];
#pragma unroll
    for (int c = 0; c < width; ++c) {
      const PartOf<T> root = real_part_of(shared_.at(first + c, first + c));
      const T rest = shared_.at(me_, first + c) - s_[c];
      l[c] = quotient(rest, Divisor<PartOf<T>>{root, real_part_of(shared_.unknowns[c])});
      if (!(is_moderate(root) & is_quotient(rest, l[c], root))) l[c] = rest / root;
#pragma unroll
      for (int i = c + 1; i < width; ++i)
        s_[i] = multiply_add(l[c], conjugate_of(shared_.at(first + i, first + c)), s_[i]);
      keep_loads_here();
    }
#pragma unroll
    for (int c = 0; c < width; ++c) shared_.at(me_, first + c) = l[c];
  }

  const BlockShared<T>& shared_;
  const T* a_;
  const Index of_row_, of_column_;
  const bool conjugates_;
  const int n_, me_, threads_;
  T s_[width];
  T square_[width] = {}; ///< of the first warp: the sums of the square's row
};

} // namespace tessera::cuda
