#pragma once

/// The groups of a batch as kernels see them. A launch has a grid over the tiles of all products of all groups.

#include <cuda_runtime_api.h>

#include <tessera/batch.hpp>

namespace tessera::cuda {

/// One group: products of one shape, with strides or with arrays of pointers in device memory. T is the type of A and
/// B, R the type of C.
template <class T, class R = T>
struct BatchGroup {
  Index m, n, k;
  Index segment; ///< k of each segment but the last one, on matrix units
  const T* a;    ///< A, B and C of the first product, if there are strides
  const T* b;
  R* c;
  Index lda, ldb, ldc;
  Index stride_a, stride_b, stride_c;
  const T* const* all_a; ///< the operands of all products; null: they have strides
  const T* const* all_b;
  R* const* all_c;
  Scalar<T> alpha, beta;
  bool transpose_a, transpose_b;
  bool has_epilogue;
  Epilogue epilogue;
  unsigned first;  ///< tiles of all groups before this one
  unsigned tiles;  ///< tiles of one product
  unsigned across; ///< tiles of one product side by side

  struct Operands {
    const T* a;
    const T* b;
    R* c;
  };
  /// Returns the operands of product number i.
  __host__ __device__ Operands product(unsigned i) const {
    if (all_c != nullptr) return {all_a[i], all_b[i], all_c[i]};
    const auto number = static_cast<Index>(i);
    return {a + number * stride_a, b + number * stride_b, c + number * stride_c};
  }
};

/// The groups of a launch. A few groups are passed among the kernel's arguments, so that nothing is copied for them.
template <class T, class R = T>
struct BatchGroups {
  static constexpr unsigned most_here = 16; ///< all arguments of a kernel have at most 4 KiB
  unsigned count;
  unsigned tiles;               ///< tiles of all groups
  bool any_epilogue;            ///< one of them has an epilogue
  const BatchGroup<T, R>* more; ///< the groups, in device memory, if there are more than most_here
  /// If it has numbers, here[0] is the one group: its products share the rows, and `tiles` are as many as there may be.
  RowEnds ends;
  int products; ///< of that group
  BatchGroup<T, R> here[most_here];

  /// Returns the group of a tile.
  __host__ __device__ const BatchGroup<T, R>& group_of(unsigned tile) const {
    const BatchGroup<T, R>* const all = more != nullptr ? more : here;
    unsigned low = 0, high = count; // of the last group whose first tile is not after this tile
    while (high - low > 1) {
      const unsigned middle = (low + high) / 2;
      (all[middle].first <= tile ? low : high) = middle;
    }
    return all[low];
  }
};

/// The tiles that the kernels cut C into. Kernels are of Math::Strict where they do not say otherwise.
struct BatchTile {
  Index m, n;
};
template <class T>
constexpr BatchTile small_tile{16, 16}; ///< of one warp
template <class T>
constexpr BatchTile quarter_tile{32, 32}; ///< of one or two warps
template <class T>
constexpr BatchTile middle_tile{64, 64}; ///< of a block
template <class T>
constexpr BatchTile wide_tile{sizeof(T) == 4 ? 128 : 64, 128};

/// Each function enqueues one launch. This one takes f32, f64, and f16 and bf16 with results of their type or of f32.
template <class T, class R>
Status launch_small_batch(cudaStream_t stream, const BatchGroups<T, R>& groups) noexcept;
/// Takes f32.
template <class T>
Status launch_quarter_batch(cudaStream_t stream, const BatchGroups<T>& groups) noexcept;
/// The launches by dmma take f64, on Hopper.
Status launch_quarter_batch_dmma(cudaStream_t stream, const BatchGroups<double>& groups) noexcept;
Status launch_middle_batch_dmma(cudaStream_t stream, const BatchGroups<double>& groups) noexcept;
/// The launches of middle and wide tiles take f32 and f64.
template <class T>
Status launch_middle_batch(cudaStream_t stream, const BatchGroups<T>& groups) noexcept;
template <class T>
Status launch_wide_batch(cudaStream_t stream, const BatchGroups<T>& groups) noexcept;

/// Takes f16 and bf16 in the modes Fp16 and Bf16, with results of their type or of f32, on matrix units.
template <class T, class R>
Status launch_mma_batch(cudaStream_t stream, const BatchGroups<T, R>& groups) noexcept;
/// Takes f32 in the mode Tf32, on matrix units.
Status launch_tf32_batch(cudaStream_t stream, const BatchGroups<float>& groups) noexcept;

} // namespace tessera::cuda
