#pragma once

/// Which thread touches what in shared memory. Apart from the kernels, so that a test on the host can count the bank
/// conflicts of the same expressions; see README.md.

#include <cuda_runtime_api.h>

namespace tessera::cuda {

/// 128 bits: the widest load and store.
template <class T>
struct alignas(16) Vector {
  static constexpr int width = 16 / sizeof(T);
  T lane[width];
};

/// Distance between rows of a padded tile: one vector more than the tile is wide.
template <class T>
constexpr int padded(int tile) {
  return tile + Vector<T>::width;
}

struct Place {
  int down, across;
};

/// The threads of a block or the lanes of a warp, row by row.
__host__ __device__ constexpr Place row_order(int thread, int threads_across) {
  return {thread / threads_across, thread % threads_across};
}

/// A warp's lanes as 4×8 along a Z-curve: bits 0, 2 and 4 count across, bits 1 and 3 down.
__host__ __device__ constexpr Place z_curve(int lane) {
  return {(lane >> 1 & 1) | (lane >> 2 & 2), (lane & 1) | (lane >> 1 & 2) | (lane >> 2 & 4)};
}

} // namespace tessera::cuda
