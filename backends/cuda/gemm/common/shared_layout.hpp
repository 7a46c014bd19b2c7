#pragma once

/// Says which thread accesses which element of shared memory. These functions are apart from the kernels, so that a
/// test on the host (tests/backends/cuda/bank_conflicts.cpp) can count the bank conflicts of the expressions that the
/// kernels use.

#include <cuda_runtime_api.h>

namespace tessera::cuda {

/// 128 bits of elements: the widest load and store.
template <class T>
struct alignas(16) Vector {
  static constexpr int width = 16 / sizeof(T);
  T lane[width];
};

/// Returns the distance between the rows of a padded tile, in elements: the tile's width and one vector more.
template <class T>
constexpr int padded(int tile) {
  return tile + Vector<T>::width;
}

/// A position in a grid of threads.
struct Place {
  int down, across;
};

/// Returns the position of a thread of a block, or of a lane of a warp, if they are laid out row by row.
__host__ __device__ constexpr Place row_order(int thread, int threads_across) {
  return {thread / threads_across, thread % threads_across};
}

/// Returns the position of a lane if a warp's lanes are laid out as 4×8 along a Z-curve: bits 0, 2 and 4 of the lane
/// count across, bits 1 and 3 down.
__host__ __device__ constexpr Place z_curve(int lane) {
  return {(lane >> 1 & 1) | (lane >> 2 & 2), (lane & 1) | (lane >> 1 & 2) | (lane >> 2 & 4)};
}

} // namespace tessera::cuda
