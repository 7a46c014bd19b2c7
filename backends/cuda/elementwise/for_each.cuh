#pragma once

/// One kernel for all operations that compute each element of z independently of the others.

#include "cuda/device/status.hpp"
#include "cuda/queue/stream.hpp"
#include "grid_stride.cuh"

namespace tessera::cuda {

inline constexpr int for_each_threads = 256;
inline constexpr Index for_each_most_blocks = 2048; ///< Enough to fill a device. Threads then compute further elements.
inline constexpr int for_each_unroll = 4;

/// Sets z(i, j) = value(i, j). A thread reads four elements before it writes the first, so that four loads are in
/// flight.
template <class T, class Value>
__global__ void __launch_bounds__(for_each_threads) for_each_element(GridStride stride, T* z, Index ldz, Value value) {
  const Index first = static_cast<Index>(blockIdx.x) * for_each_threads + threadIdx.x;
  if (first >= stride.count) return;
  Walk walk(stride, first);
  for (Index e = first; e < stride.count; e += for_each_unroll * stride.step) {
    T computed[for_each_unroll];
    T* place[for_each_unroll];
#pragma unroll
    for (int u = 0; u < for_each_unroll; ++u) {
      place[u] = nullptr;
      if (e + u * stride.step < stride.count) {
        place[u] = z + walk.row * ldz + walk.col;
        computed[u] = value(walk.row, walk.col);
      }
      walk.next(stride);
    }
#pragma unroll
    for (int u = 0; u < for_each_unroll; ++u)
      if (place[u] != nullptr) *place[u] = computed[u];
  }
}

/// Enqueues z(i, j) = value(i, j) for a z of rows×cols. value(i, j) may read z(i, j), but no other element of z.
template <class T, class Value>
Status for_each(Queue& queue, Index rows, Index cols, void* z, Index ldz, Value value, const char* name) noexcept {
  if (rows == 0 || cols == 0) return {};
  const Index wanted = (rows * cols + for_each_threads - 1) / for_each_threads;
  const Index blocks = wanted < for_each_most_blocks ? wanted : for_each_most_blocks;
  for_each_element<<<static_cast<unsigned>(blocks), for_each_threads, 0, stream_of(queue)>>>(
      GridStride(rows, cols, blocks * for_each_threads), static_cast<T*>(z), ldz, value);
  return launched(name);
}

} // namespace tessera::cuda
