#pragma once

/// The last step of products whose slices of k were summed by different blocks, for results of f32 or 16 bits.

#include <cuda_runtime_api.h>

#include <tessera/status.hpp>

#include "cuda/gemm/common/epilogue.cuh"

namespace tessera::cuda {

/// sums is [slices][m][pitch]; C is their sum, finished.
struct SliceSums {
  const float* sums;
  int slices;
  int pitch; ///< a multiple of 4
  EpilogueStore<float> epilogue;
};

/// Adds in an order that depends on the sizes alone. On Hopper, behind a kernel that lets it start early.
Status launch_add_slices(cudaStream_t stream, const SliceSums& x, const char* name) noexcept;

} // namespace tessera::cuda
