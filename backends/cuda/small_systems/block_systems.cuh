#pragma once

/// Systems of more than 32 rows: a block has a system, with a thread for each row while it is factored, and
/// a warp for each right-hand side while it is solved.

#include "block_lu.cuh"
#include "block_positive.cuh"
#include "triangle.cuh"

namespace tessera::cuda {

/// With holds_matrix the matrix is in shared memory, else in the block's part of global memory, `matrix`.
template <class T, bool holds_matrix>
class BlockSystem {
 public:
  __device__ BlockSystem(const Systems<T>& systems, unsigned char* memory, T* matrix, Index number)
      : systems_(systems),
        shared_(
            split_block_memory<T, holds_matrix>(memory, matrix, systems.m, systems.n, static_cast<int>(blockDim.x))),
        number_(number),
        me_(static_cast<int>(threadIdx.x)),
        threads_(static_cast<int>(blockDim.x)) {}

  __device__ void run() {
    if (systems_.has_factors())
      load_factors();
    else if (systems_.is_positive())
      factor_positive();
    else
      factor_lu();
    if (systems_.keeps_factors()) return store();
    if (has_failed() && systems_.spares_failed()) return;
    const int warps = solving_warps<T>(threads_);
    if (me_ / 32 >= warps) return;
    for (Index column = me_ / 32; column < systems_.columns; column += warps) solve(column);
  }

 private:
  __device__ T* matrix() const { return systems_.a_of(number_); }
  __device__ bool is_upper() const { return systems_.is_positive() && systems_.is_upper; }
  __device__ bool has_failed() const { return !systems_.has_factors() && *shared_.failed != 0; }

  __device__ void load_factors() {
    const T* const a = matrix();
    const int m = systems_.m, n = systems_.n;
    const bool turns = is_upper();
#pragma unroll 4
    for (int i = me_; i < m * n; i += threads_) {
      const int row = i / n, col = i % n;
      if (turns ? systems_.is_wanted(col, row) : systems_.is_wanted(row, col))
        (turns ? shared_.at(col, row) : shared_.at(row, col)) = a[row * systems_.lda + col];
    }
    for (int i = me_; i < n; i += threads_) {
      shared_.row_at[i] = shared_.source[i] = i;
      if (!systems_.is_positive()) shared_.pivots[i] = systems_.pivot_of(number_, i);
    }
    __syncthreads();
    if (me_ == 0 && !systems_.is_positive()) {
      for (int j = 0; j < n; ++j) {
        const int other = shared_.pivots[j], here = shared_.source[j];
        shared_.source[j] = shared_.source[other];
        shared_.source[other] = here;
      }
    }
    __syncthreads();
  }
  __device__ void factor_positive() {
    const T* const a = matrix();
    const bool turns = is_upper();
    BlockPositive<T>(shared_, a, turns ? 1 : systems_.lda, turns ? systems_.lda : 1, systems_.conjugates_triangle(),
                     systems_.n)
        .run();
    for (int i = me_; i < systems_.n; i += threads_) shared_.row_at[i] = shared_.source[i] = i;
    report();
  }
  __device__ void factor_lu() {
    BlockLu<T> lu(shared_, matrix(), systems_.lda, systems_.m, systems_.n);
    lu.run();
    lu.note_places();
    const int steps = systems_.m < systems_.n ? systems_.m : systems_.n;
    if (systems_.task == SystemsTask::Lu)
      for (int i = me_; i < steps; i += threads_)
        systems_.pivots[number_ * systems_.pivot_stride + i] = shared_.pivots[i];
    report();
  }
  __device__ void report() const {
    if (me_ == 0 && systems_.info != nullptr) systems_.info[number_] = *shared_.failed;
    __syncthreads();
  }

  __device__ void store() const {
    if (systems_.is_positive() && has_failed()) return;
    T* const a = matrix();
    const int m = systems_.m, n = systems_.n;
    const bool turns = is_upper();
    for (int i = me_; i < m * n; i += threads_) {
      const int row = i / n, col = i % n;
      if (turns ? systems_.is_wanted(col, row) : systems_.is_wanted(row, col))
        a[row * systems_.lda + col] = turns ? shared_.at(col, row) : shared_.at(shared_.row_at[row], col);
    }
  }

  /// A triangle of the factors, by rows or by columns.
  struct Side {
    bool by_columns, ascends, has_unit_diagonal, is_conjugated;
  };
  /// Finds the unknowns of a triangle in the place of the right-hand side, a square after the other.
  __device__ void solve_triangle(const Side& side, T* unknowns) const {
    constexpr int lanes = 32;
    const int n = systems_.n, lane = me_ % lanes, squares = (n + lanes - 1) / lanes;
#pragma unroll 1
    for (int square = 0; square < squares; ++square) {
      const int base = (side.ascends ? square : squares - 1 - square) * lanes;
      const int size = n - base < lanes ? n - base : lanes, at = base + (lane < size ? lane : size - 1);
      const int row = shared_.row_at[at], step = side.by_columns ? shared_.ld : 1;
      const T* const first = side.by_columns ? &shared_.at(0, at) : &shared_.at(row, 0);
      const auto factor = [&](int k) { return side.is_conjugated ? conjugate_of(first[k * step]) : first[k * step]; };
      T b[1], sum[1] = {}, x[1];
      b[0] = unknowns[at];
      if (side.ascends)
#pragma unroll 4
        for (int k = 0; k < base; ++k) sum[0] = multiply_add(factor(k), unknowns[k], sum[0]);
      else
#pragma unroll 4
        for (int k = n - 1; k >= base + size; --k) sum[0] = multiply_add(factor(k), unknowns[k], sum[0]);
      solve_square<lanes, 1>(LaneTriangle<T>{.row = first + base * step,
                                             .step = step,
                                             .diagonal = shared_.at(row, at),
                                             .size = size,
                                             .ascends = side.ascends,
                                             .has_unit_diagonal = side.has_unit_diagonal,
                                             .is_conjugated = side.is_conjugated,
                                             .is_needed = lane < size},
                             lane, b, sum, x);
      __syncwarp();
      if (lane < size) unknowns[at] = x[0];
      __syncwarp();
    }
  }
  /// Solves for a right-hand side, by a warp.
  __device__ void solve(Index column) const {
    const int n = systems_.n, lane = me_ % 32;
    const bool is_positive = systems_.is_positive(),
               is_turned = systems_.task == SystemsTask::LuSolve && systems_.is_transposed;
    T* const unknowns = shared_.unknowns + me_ / 32 * block_rows(systems_.m, n);
    T* const b = systems_.b_of(number_) + column;
    for (int i = lane; i < n; i += 32) {
      const int from = is_turned ? i : shared_.source[i];
      if (systems_.task == SystemsTask::Inverse)
        unknowns[i] = real_number<T>(from == column ? 1 : 0);
      else
        unknowns[i] = b[from * systems_.ldb];
    }
    __syncwarp();
    solve_triangle({is_turned, true, !is_positive && !is_turned, systems_.conjugates_first()}, unknowns);
    solve_triangle({is_positive || is_turned, false, is_turned, systems_.conjugates_second()}, unknowns);
    for (int i = lane; i < n; i += 32) b[(is_turned ? shared_.source[i] : i) * systems_.ldb] = unknowns[i];
    __syncwarp();
  }

  const Systems<T>& systems_;
  const BlockShared<T> shared_;
  const Index number_;
  const int me_, threads_;
};

} // namespace tessera::cuda
