#pragma once

/// The systems of a launch as kernels see them.

#include <tessera/backend/small_systems.hpp>

#include "cuda/panel/number.cuh"

namespace tessera::cuda {

template <class T>
struct Systems {
  SystemsTask task;
  int m, n;
  Index columns, count;
  T* a;
  Index lda, stride_a;
  T* const* all_a;
  T* b;
  Index ldb, stride_b;
  T* const* all_b;
  bool is_upper, is_transposed, is_conjugated;
  Index* pivots;
  Index pivot_stride;
  Index* info;

  __device__ T* a_of(Index i) const { return all_a != nullptr ? all_a[i] : a + i * stride_a; }
  __device__ T* b_of(Index i) const { return all_b != nullptr ? all_b[i] : b + i * stride_b; }
  /// Returns the row with which row j of system i changes places. A number that is no row stays within the matrix.
  __device__ int pivot_of(Index i, int j) const {
    const Index row = pivots[i * pivot_stride + j];
    return row >= 0 && row < m ? static_cast<int>(row) : j;
  }

  __device__ bool is_positive() const {
    return task == SystemsTask::Cholesky || task == SystemsTask::CholeskySolve || task == SystemsTask::SolvePositive;
  }
  __device__ bool has_factors() const { return task == SystemsTask::LuSolve || task == SystemsTask::CholeskySolve; }
  __device__ bool keeps_factors() const { return task == SystemsTask::Lu || task == SystemsTask::Cholesky; }
  /// Does a system with a failure stay as it was?
  __device__ bool spares_failed() const { return !has_factors() && task != SystemsTask::Lu; }
  /// Is an upper triangle, which is read as a lower one, conjugated as it is read? SolvePositive takes it as the one of
  /// the same matrix, and Cholesky as the one of its transpose, whose L is Uᵀ.
  __device__ bool conjugates_triangle() const { return task == SystemsTask::SolvePositive && is_upper; }
  /// Which of the two triangles that are solved are conjugated?
  __device__ bool conjugates_first() const {
    return is_positive() ? task == SystemsTask::CholeskySolve && is_upper : is_conjugate_transposed();
  }
  __device__ bool conjugates_second() const { return is_positive() ? !conjugates_first() : is_conjugate_transposed(); }
  __device__ bool is_conjugate_transposed() const {
    return task == SystemsTask::LuSolve && is_transposed && is_conjugated;
  }
  /// Has the triangle of a symmetric matrix the number (i, j) of its lower one?
  __device__ bool is_wanted(int i, int j) const { return !is_positive() || j <= i; }
};

} // namespace tessera::cuda
