#pragma once

/// Describes how slender's tiles come into shared memory: producer warps copy them with cp.async, many stages ahead.
/// Each scheduler has only one consumer warp, so nothing else would hide the time that starting a copy takes.

#include <type_traits>

#include "tiles.cuh"

namespace tessera::cuda::slender_tiling {

/// Returns one segment of k of an operand, from row `first` on.
template <class T>
__device__ OperandSlice<T> segment_slice(OperandSlice<T> x, Along stored, Index first, const SegmentRange& range) {
  x.first = first;
  x.data += range.begin * (stored == Along::K ? 1 : x.stride);
  x.k = range.end - range.begin;
  return x;
}

/// Copies the tiles of one segment of both operands, step by step.
template <class T, class S, Along along>
class TileCopier {
  static constexpr bool few = S::rows < 16; ///< the small operand is copied element by element
  struct Nothing {
    __device__ Nothing(const OperandSlice<T>&, int) {}
  };
  template <Along small_along>
  using SmallLoader =
      std::conditional_t<few, Nothing, AsyncTileLoader<T, few ? 16 : S::rows, depth<T>, S::team, small_along>>;

 public:
  __device__ TileCopier(const SlenderOperands<T>& x, Index first_row, Index first, const SegmentRange& range,
                        int thread)
      : thread_(thread),
        large_(segment_slice(x.large, along, first, range), thread),
        small_(segment_slice(x.small, x.small_along, first_row, range)),
        small_along_k_(small_, thread),
        small_along_rows_(small_, thread) {}

  template <class Segment>
  __device__ void copy(const SlenderOperands<T>& x, Index k0, Segment& to) {
    large_.copy(k0, to.large);
    if constexpr (few)
      copy_few(x.small_along, k0, to.small);
    else if (x.small_along == Along::K)
      small_along_k_.copy(k0, to.small);
    else
      small_along_rows_.copy(k0, to.small);
  }

 private:
  template <int ld>
  __device__ void copy_few(Along stored, Index k0, T (&tile)[depth<T>][ld]) const {
#pragma unroll
    for (int e = thread_; e < S::rows * depth<T>; e += S::team) {
      const int row = e / depth<T>, p = e % depth<T>;
      const Index i = small_.first + row;
      if (i < small_.outer && k0 + p < small_.k)
        __pipeline_memcpy_async(
            &tile[p][row],
            small_.data + (stored == Along::K ? i * small_.stride + k0 + p : (k0 + p) * small_.stride + i), sizeof(T));
      else
        tile[p][row] = small_.padding;
    }
  }

  int thread_;
  AsyncTileLoader<T, S::wide, depth<T>, S::team, along, false> large_;
  OperandSlice<T> small_;
  SmallLoader<Along::K> small_along_k_;
  SmallLoader<Along::Outer> small_along_rows_;
};

} // namespace tessera::cuda::slender_tiling
