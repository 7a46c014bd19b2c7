#pragma once

/// LU of a block's matrix, in strips of columns. A thread has a row. What is subtracted from a row's numbers in the
/// strip is in the thread's registers and moves one place at each step (lane_factors.cuh); the caller's numbers come
/// when their strip does, because until then their places in shared memory hold the sums.
///
/// Each warp offers its best row for a pivot, with the row's numbers of U; after one barrier all threads know the best.

#include "block_update.cuh"

namespace tessera::cuda {

template <class T>
class BlockLu {
  static constexpr int width = block_strip<T>;

 public:
  __device__ BlockLu(const BlockShared<T>& shared, const T* a, Index lda, int m, int n)
      : shared_(shared),
        a_(a),
        lda_(lda),
        m_(m),
        n_(n),
        me_(static_cast<int>(threadIdx.x)),
        threads_(static_cast<int>(blockDim.x)),
        place_(me_) {}

  __device__ void run() {
    for (int i = me_; i < m_ * shared_.ld; i += threads_) shared_.matrix[i] = T{};
    for (int i = me_; i < m_; i += threads_) shared_.is_done[i] = 0;
    if (me_ == 0) *shared_.failed = 0;
    const int steps = m_ < n_ ? m_ : n_;
#pragma unroll 1
    for (int first = 0; first < steps; first += width) {
      const int here = steps - first < width ? steps - first : width;
      const int columns = n_ - first < width ? n_ - first : width;
      load(first, columns);
#pragma unroll 1
      for (int c = 0; c < here; ++c) factor_column(first + c, c);
      __syncthreads();
      const int begin = first + columns;
      if (begin < n_) {
        find_upper(first, here, begin);
        __syncthreads();
        if (first + here < m_) update(first, begin);
      }
    }
    __syncthreads();
  }
  /// Notes which row of the memory is each row of P·A, also the rows after the last step.
  __device__ void note_places() const {
    if (is_here()) shared_.row_at[place_] = shared_.source[place_] = me_;
    __syncthreads();
  }

 private:
  __device__ bool is_here() const { return me_ < m_; }

  /// Reads the strip: sums to registers, and the caller's numbers to their places.
  __device__ void load(int first, int columns) {
    __syncthreads();
#pragma unroll
    for (int i = 0; i < width; ++i) s_[i] = is_here() ? shared_.at(me_, first + i) : T{};
    __syncthreads();
    constexpr int some = 8; // rows whose numbers are under way at a time
    const int col = me_ % width, at_once = threads_ / width;
#pragma unroll 1
    for (int top = me_ / width; top < m_; top += some * at_once) {
      bool is_wanted[some];
      T read[some];
#pragma unroll
      for (int q = 0; q < some; ++q) {
        const int row = top + q * at_once;
        is_wanted[q] = col < columns && row < m_ && shared_.is_done[row] == 0;
      }
#pragma unroll
      for (int q = 0; q < some; ++q) read[q] = is_wanted[q] ? a_[(top + q * at_once) * lda_ + first + col] : T{};
#pragma unroll
      for (int q = 0; q < some; ++q)
        if (is_wanted[q]) shared_.at(top + q * at_once, first + col) = read[q];
    }
    __syncthreads();
  }

  /// Factors column c of a strip, which is column j of the matrix.
  __device__ __forceinline__ void factor_column(int j, int c) {
    const int lane = me_ % 32, warp = me_ / 32, parity = j % 2;
    const bool is_candidate = is_here() && place_ >= j;
    const T value = is_candidate ? shared_.at(me_, j) - s_[0] : T{};
    const Candidate mine{is_candidate ? order_of(value) : 0, place_};
    if (lane_of_best<T>(mine) == lane) {
      shared_.candidates[parity][warp] = mine;
      shared_.candidate_rows[parity][warp] = me_;
      if (is_candidate) {
        T offer[width]; // what is right of the strip is not used
#pragma unroll
        for (int i = 0; i < width; ++i) offer[i] = shared_.at(me_, c + i < width ? j + i : j) - s_[i];
#pragma unroll
        for (int i = 0; i < width; ++i) shared_.offers[parity][warp][i] = offer[i];
      }
    }
    __syncthreads();
    const int best = lane_of_best<T>(lane < threads_ / 32 ? shared_.candidates[parity][lane] : Candidate{});
    const int row = shared_.candidate_rows[parity][best], place = shared_.candidates[parity][best].place;
    T u[width];
    read_vectors(u, shared_.offers[parity][best]);
    if (me_ == 0) {
      shared_.row_at[j] = row;
      shared_.pivots[j] = place;
      if (is_zero(u[0]) && *shared_.failed == 0) *shared_.failed = j + 1;
    }
    if (me_ == row) {
      place_ = j;
      shared_.is_done[me_] = 1;
#pragma unroll
      for (int i = 0; i < width; ++i)
        if (c + i < width && j + i < n_) shared_.at(me_, j + i) = u[i];
    } else if (is_candidate) {
      if (place_ == j) place_ = place;
      const T l = is_zero(u[0]) ? value : Dividing<T>(u[0]).divide(value);
      shared_.at(me_, j) = l;
#pragma unroll
      for (int i = 1; i < width; ++i) s_[i - 1] = multiply_add(l, u[i], s_[i]);
    }
  }

  /// Computes U's rows of the strip in the columns right of it, a column a thread.
  __device__ void find_upper(int first, int here, int begin) {
#pragma unroll 1
    for (int col = begin + me_; col < n_; col += threads_) {
      T sums[width], u[width];
      int rows[width];
#pragma unroll
      for (int k = 0; k < width; ++k) {
        rows[k] = shared_.row_at[k < here ? first + k : first];
        u[k] = a_[rows[k] * lda_ + col];
        sums[k] = shared_.at(rows[k], col);
      }
#pragma unroll
      for (int k = 0; k < width; ++k) {
        u[k] = u[k] - sums[k];
#pragma unroll
        for (int i = k + 1; i < width; ++i) sums[i] = multiply_add(shared_.at(rows[i], first + k), u[k], sums[i]);
        keep_loads_here();
      }
#pragma unroll
      for (int k = 0; k < width; ++k)
        if (k < here) shared_.at(rows[k], col) = u[k];
    }
  }

  struct OpenRows {
    const int* is_done;
    __device__ bool any_of(int, int, int) const { return true; }
    __device__ bool operator()(int row, int) const { return is_done[row] == 0; }
  };
  __device__ void update(int first, int begin) {
    const auto factors = [&](int col, T(&to)[width]) {
#pragma unroll
      for (int k = 0; k < width; ++k) to[k] = shared_.at(shared_.row_at[first + k], col);
    };
    extend_sums_right(shared_, m_, n_, first, begin, factors, OpenRows{shared_.is_done});
  }

  const BlockShared<T>& shared_;
  const T* a_;
  const Index lda_;
  const int m_, n_, me_, threads_;
  int place_;
  T s_[width];
};

} // namespace tessera::cuda
