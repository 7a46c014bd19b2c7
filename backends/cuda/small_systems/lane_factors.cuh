#pragma once

/// LU and Cholesky's factors of a matrix of at most 32 rows, by a group of lanes of a warp. Each lane has a row.
///
/// The matrix is in shared memory; the sums that are subtracted from a row's numbers are in its lane's registers, and
/// move one place at each step, so that the loop over the columns stays a loop: column j's sum is always the first one.
/// After some columns a strip ends, and the loops are compiled again for the columns that are left.
///
/// Rows do not move. A lane knows the place of its row among the rows of P·A.

#include <cstdint>

#include "cuda/panel/pivot.cuh"
#include "cuda/panel/rounded.cuh"
#include "cuda/panel/vectors.cuh"

namespace tessera::cuda {

constexpr unsigned all_lanes = 0xffffffff;

/// A system in shared memory.
template <class T, int lanes>
struct LaneShared {
  static constexpr int ld = lanes + 1; ///< rows of a column are in different banks
  T a[lanes][ld];
  alignas(16) T row[2][lanes]; ///< what all lanes need of a step, and of the step before
  int row_at[lanes];           ///< the lane of each row of P·A
};

/// Returns the rank of the group's lane with the largest order, of equals the first place.
template <class T, int lanes>
__device__ __forceinline__ int lane_of_best_in_group(std::uint64_t order, int place, int rank) {
  if constexpr (lanes == 32) {
    return lane_of_best<T>(Candidate{order, place});
  } else {
    auto tag = static_cast<unsigned>(place * 32 + rank);
    if constexpr (sizeof(PartOf<T>) == 4) {
      std::uint64_t key = order << 32 | (0xffffffffU - tag);
#pragma unroll
      for (int distance = lanes / 2; distance > 0; distance /= 2) {
        const std::uint64_t other = __shfl_xor_sync(all_lanes, key, distance);
        key = key > other ? key : other;
      }
      tag = 0xffffffffU - static_cast<unsigned>(key);
    } else {
#pragma unroll
      for (int distance = lanes / 2; distance > 0; distance /= 2) {
        const std::uint64_t other = __shfl_xor_sync(all_lanes, order, distance);
        const unsigned other_tag = __shfl_xor_sync(all_lanes, tag, distance);
        const bool is_better = other > order || (other == order && other_tag < tag);
        order = is_better ? other : order;
        tag = is_better ? other_tag : tag;
      }
    }
    return static_cast<int>(tag % 32);
  }
}

/// What both factorisations have in common: `Factors` has step<width>(j).
template <class T, int lanes, class Factors>
class LaneFactors {
 public:
  /// The number of the first step that failed, from 1 on, or 0.
  int failed = 0;

 protected:
  using Shared = LaneShared<T, lanes>;
  static constexpr int columns_of_strip = lanes < 8 ? lanes : 8;

  __device__ LaneFactors(Shared& shared, int rank) : shared_(shared), rank_(rank) {
#pragma unroll
    for (int i = 0; i < lanes; ++i) s_[i] = T{};
  }
  template <int width>
  __device__ __forceinline__ void run_strips(int steps) {
#pragma unroll 1
    for (int t = 0; t < columns_of_strip; ++t) {
      const int j = lanes - width + t;
      if (j >= steps) return;
      static_cast<Factors*>(this)->template step<width>(j);
    }
    if constexpr (width > columns_of_strip) run_strips<width - columns_of_strip>(steps);
  }
  /// Adds the terms of step j to the sums of the columns after it.
  template <int width>
  __device__ __forceinline__ void extend_sums(T factor, const T* others) {
    T other[width];
    read_vectors(other, others);
#pragma unroll
    for (int i = 1; i < width; ++i) s_[i - 1] = multiply_add(factor, other[i], s_[i]);
  }

  Shared& shared_;
  const int rank_;
  T s_[lanes];
};

/// A becomes L and U, with the rows where they were.
template <class T, int lanes>
class LaneLu : public LaneFactors<T, lanes, LaneLu<T, lanes>> {
  using Base = LaneFactors<T, lanes, LaneLu<T, lanes>>;
  friend Base;

 public:
  int place; ///< of the lane's row in P·A
  int pivot; ///< the place with which place `rank` was exchanged

  __device__ LaneLu(LaneShared<T, lanes>& shared, int rank, int m, int n)
      : Base(shared, rank), place(rank), pivot(0), m_(m), n_(n) {}
  __device__ __forceinline__ void run() { this->template run_strips<lanes>(m_ < n_ ? m_ : n_); }

 private:
  template <int width>
  __device__ __forceinline__ void step(int j) {
    auto& shared = this->shared_;
    T* const row = shared.row[j % 2];
    const int rank = this->rank_;
    const T value = shared.a[rank][j] - this->s_[0];
    const bool is_candidate = rank < m_ && place >= j;
    const int best = lane_of_best_in_group<T, lanes>(is_candidate ? order_of(value) : 0, place, rank);
    const int pivot_place = __shfl_sync(all_lanes, place, best, lanes);
    if (rank == best) {
#pragma unroll
      for (int i = 0; i < width; ++i) row[i] = this->s_[i];
    }
    __syncwarp();
    if (rank < width) {
      const bool is_one = j + rank < n_;
      const T u = is_one ? shared.a[best][j + rank] - row[rank] : T{};
      row[rank] = u;
      if (is_one) shared.a[best][j + rank] = u;
    }
    __syncwarp();
    if (rank == j) pivot = pivot_place;
    if (rank == best)
      place = j;
    else if (place == j)
      place = pivot_place;
    const T divisor = row[0];
    const Dividing<T> dividing(divisor);
    if (is_zero(divisor) && this->failed == 0) this->failed = j + 1;
    if (rank < m_ && place > j) {
      const T l = is_zero(divisor) ? value : dividing.divide(value);
      this->template extend_sums<width>(l, row);
      shared.a[rank][j] = l; // last, so that nothing that is read waits for it
    }
  }

  const int m_, n_;
};

/// Returns value / √square, or the root, which is real, where `is_root_wanted`, with the bits of the operators. All
/// lanes of a warp call it.
template <class T>
__device__ __forceinline__ T divided_by_root(T value, PartOf<T> square, bool is_root_wanted) {
  const Divisor<PartOf<T>> root = root_of(square);
  const T l = is_root_wanted ? real_number<T>(root.value) : quotient(value, root);
  const bool is_right = is_root(square, root.value) && (is_root_wanted || is_quotient(value, l, root.value));
  if (__all_sync(all_lanes, is_right)) return l;
  const PartOf<T> slow = sqrt(square);
  return is_root_wanted ? real_number<T>(slow) : value / slow;
}

/// The lower triangle becomes L.
template <class T, int lanes>
class LanePositive : public LaneFactors<T, lanes, LanePositive<T, lanes>> {
  using Base = LaneFactors<T, lanes, LanePositive<T, lanes>>;
  friend Base;

 public:
  __device__ LanePositive(LaneShared<T, lanes>& shared, int rank, int n) : Base(shared, rank), n_(n) {}
  __device__ __forceinline__ void run() { this->template run_strips<lanes>(n_); }

 private:
  template <int width>
  __device__ __forceinline__ void step(int j) {
    auto& shared = this->shared_;
    T* const row = shared.row[j % 2];
    const int rank = this->rank_;
    const bool is_one = rank >= j && rank < n_;
    const T value = is_one && this->failed == 0 ? shared.a[rank][j] - this->s_[0] : T{};
    const PartOf<T> square = __shfl_sync(all_lanes, real_part_of(value), j, lanes);
    const bool is_positive = square > 0;
    if (!is_positive && this->failed == 0) this->failed = j + 1;
    const T l = divided_by_root(value, is_positive ? square : PartOf<T>(1), rank == j);
    if (rank >= j) row[rank - j] = conjugate_of(l);
    __syncwarp();
    this->template extend_sums<width>(l, row);
    if (is_one) shared.a[rank][j] = l;
  }

  const int n_;
};

} // namespace tessera::cuda
