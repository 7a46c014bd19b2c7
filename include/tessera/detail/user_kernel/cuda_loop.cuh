#pragma once

/// A loop on a device: each thread has an index, and neighbouring threads have neighbouring columns. Only nvcc reads
/// this file.

#include <cuda_runtime.h>

#include <tessera/user_kernel/table.hpp>

namespace tessera::detail {

inline constexpr int block_threads = 256;

inline unsigned blocks_for(Index work, Index per_block) {
  constexpr Index most = 0x7FFFFFFF;
  const Index blocks = (work + per_block - 1) / per_block;
  return static_cast<unsigned>(blocks < most ? blocks : most);
}

template <class F>
__global__ void __launch_bounds__(block_threads) for_each_kernel(const __grid_constant__ F f, Index n) {
  const Index step = static_cast<Index>(gridDim.x) * block_threads;
  for (Index i = static_cast<Index>(blockIdx.x) * block_threads + threadIdx.x; i < n; i += step) f(i);
}

/// Blocks are as wide as the rows are long, up to 256 columns, so that narrow matrices leave few threads idle.
template <class F>
__global__ void __launch_bounds__(block_threads) for_each_kernel(const __grid_constant__ F f, Index rows, Index cols) {
  const Index down = static_cast<Index>(gridDim.y) * blockDim.y, right = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = static_cast<Index>(blockIdx.y) * blockDim.y + threadIdx.y; i < rows; i += down)
    for (Index j = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; j < cols; j += right) f(i, j);
}

template <int dimensions, class F>
int launch_for_each(const KernelLaunch& launch, const F& f) {
  const auto stream = static_cast<cudaStream_t>(launch.stream);
  if constexpr (dimensions == 1) {
    for_each_kernel<F><<<blocks_for(launch.cols, block_threads), block_threads, 0, stream>>>(f, launch.cols);
  } else {
    unsigned width = 32;
    while (width < block_threads && width < launch.cols) width *= 2;
    const unsigned height = block_threads / width;
    const unsigned right = blocks_for(launch.cols, width), down = blocks_for(launch.rows, height);
    const dim3 grid(right, down < 65535 ? down : 65535), block(width, height);
    for_each_kernel<F><<<grid, block, 0, stream>>>(f, launch.rows, launch.cols);
  }
  return static_cast<int>(cudaGetLastError());
}

} // namespace tessera::detail
