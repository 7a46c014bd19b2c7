#pragma once

/// The last step of a product whose slices of k were summed by different blocks, for results of f32 or 16 bits.

#include <cuda_runtime_api.h>

#include <tessera/status.hpp>

#include "cuda/gemm/common/epilogue.cuh"

namespace tessera::cuda {

/// `sums` is [slices][m][pitch]. C is their sum, with the epilogue.
struct SliceSums {
  const float* sums;
  int slices;
  int pitch; ///< elements of a row, a multiple of 4
  EpilogueStore<float> epilogue;
};

/// Adds the slices in ascending order. On Hopper it is launched after a kernel that permits
/// programmatic dependent launch.
Status launch_add_slices(cudaStream_t stream, const SliceSums& x, const char* name) noexcept;

} // namespace tessera::cuda
