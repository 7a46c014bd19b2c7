#pragma once

/// The groups of a batch as kernels see them: a launch has a grid over the tiles of all products of all groups.

#include <cuda_runtime_api.h>

#include <tessera/batch.hpp>

namespace tessera::cuda {

/// One group: products of one shape, with strides or with arrays of pointers in device memory. R: of C.
template <class T, class R = T>
struct BatchGroup {
  Index m, n, k;
  const T* a; ///< the first product's
  const T* b;
  R* c;
  Index lda, ldb, ldc;
  Index stride_a, stride_b, stride_c;
  const T* const* all_a; ///< null: strides
  const T* const* all_b;
  R* const* all_c;
  Scalar<T> alpha, beta;
  bool transpose_a, transpose_b;
  bool has_epilogue;
  Epilogue epilogue;
  unsigned first;  ///< tiles of all groups before this one
  unsigned tiles;  ///< of a product,
  unsigned across; ///< and how many of them side by side

  struct Operands {
    const T* a;
    const T* b;
    R* c;
  };
  __host__ __device__ Operands product(unsigned i) const {
    if (all_c != nullptr) return {all_a[i], all_b[i], all_c[i]};
    const auto number = static_cast<Index>(i);
    return {a + number * stride_a, b + number * stride_b, c + number * stride_c};
  }
};

/// What a kernel gets: few groups come with its arguments, so that nothing has to be copied for them.
template <class T, class R = T>
struct BatchGroups {
  static constexpr unsigned most_here = 16; ///< all arguments of a kernel take 4 KiB at most
  unsigned count;
  unsigned tiles;               ///< of all groups
  bool any_epilogue;            ///< one of them has an epilogue
  const BatchGroup<T, R>* more; ///< in device memory, if they are more
  BatchGroup<T, R> here[most_here];

  /// That of a tile.
  __host__ __device__ const BatchGroup<T, R>& group_of(unsigned tile) const {
    const BatchGroup<T, R>* const all = more != nullptr ? more : here;
    unsigned low = 0, high = count; // the last one whose first tile is not behind this one
    while (high - low > 1) {
      const unsigned middle = (low + high) / 2;
      (all[middle].first <= tile ? low : high) = middle;
    }
    return all[low];
  }
};

/// The kernels, by the tiles that they cut C into; all of Math::Strict.
struct BatchTile {
  Index m, n;
};
template <class T>
constexpr BatchTile small_tile{16, 16}; ///< a warp's
template <class T>
constexpr BatchTile quarter_tile{32, 32}; ///< one or two warps'
template <class T>
constexpr BatchTile middle_tile{64, 64}; ///< a block's
template <class T>
constexpr BatchTile wide_tile{sizeof(T) == 4 ? 128 : 64, 128};

/// One launch each. f32, f64; f16 and bf16 with results of their type or of f32.
template <class T, class R>
Status launch_small_batch(cudaStream_t stream, const BatchGroups<T, R>& groups) noexcept;
/// f32.
template <class T>
Status launch_quarter_batch(cudaStream_t stream, const BatchGroups<T>& groups) noexcept;
/// f64, on Hopper.
Status launch_quarter_batch_dmma(cudaStream_t stream, const BatchGroups<double>& groups) noexcept;
Status launch_middle_batch_dmma(cudaStream_t stream, const BatchGroups<double>& groups) noexcept;
/// f32, f64.
template <class T>
Status launch_middle_batch(cudaStream_t stream, const BatchGroups<T>& groups) noexcept;
template <class T>
Status launch_wide_batch(cudaStream_t stream, const BatchGroups<T>& groups) noexcept;

} // namespace tessera::cuda
