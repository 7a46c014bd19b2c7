#pragma once

/// A loop on a device: each thread has an index, and neighbouring threads have neighbouring columns. Only nvcc reads
/// this file.

#include <cuda_runtime.h>

#include <tessera/user_kernel/table.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail {

inline constexpr int block_threads = 256;
inline constexpr Index most_blocks = 0x7FFFFFFF; ///< of a grid in x

inline unsigned blocks_for(Index work, Index per_block) {
  const Index blocks = (work + per_block - 1) / per_block;
  return static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks);
}

/// Calls f(i) for an index from `first` on. There is no loop, because the instructions before it took longer than a
/// copy of the element (docs/lab/user_kernels.md).
template <class F>
__global__ void __launch_bounds__(block_threads) for_each_kernel(const __grid_constant__ F f, Index first, Index n) {
  const Index i = first + (static_cast<Index>(blockIdx.x) * block_threads + threadIdx.x);
  if (i < n) f(i);
}

/// Blocks are as wide as the rows are long, up to 256 columns, so that narrow matrices leave few threads idle. The
/// loops are for grids that are not large enough, and mostly run once; unrolled, they would divide first.
template <class F>
__global__ void __launch_bounds__(block_threads)
    for_each_pair_kernel(const __grid_constant__ F f, Index rows, Index cols) {
  const Index down = static_cast<Index>(gridDim.y) * blockDim.y, right = static_cast<Index>(gridDim.x) * blockDim.x;
#pragma unroll 1
  for (Index i = static_cast<Index>(blockIdx.y) * blockDim.y + threadIdx.y; i < rows; i += down)
#pragma unroll 1
    for (Index j = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; j < cols; j += right) f(i, j);
}

template <int dimensions, class F>
int launch_for_each(const KernelLaunch& launch, const F& f) {
  const auto stream = static_cast<cudaStream_t>(launch.stream);
  if constexpr (dimensions == 1) {
    constexpr Index most = most_blocks * block_threads;
    for (Index first = 0; first < launch.cols; first += most) {
      const Index left = launch.cols - first;
      for_each_kernel<F><<<blocks_for(left, block_threads), block_threads, 0, stream>>>(f, first, launch.cols);
      if (left <= most) break; // the next `first` might overflow
    }
  } else {
    unsigned width = 32;
    while (width < block_threads && width < launch.cols) width *= 2;
    const unsigned height = block_threads / width;
    const unsigned right = blocks_for(launch.cols, width), down = blocks_for(launch.rows, height);
    const dim3 grid(right, down < 65535 ? down : 65535), block(width, height);
    for_each_pair_kernel<F><<<grid, block, 0, stream>>>(f, launch.rows, launch.cols);
  }
  return static_cast<int>(cudaGetLastError());
}

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
