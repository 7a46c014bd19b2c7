#pragma once

/// Says how the segments of k (tessera/detail/emulated_segments.hpp, matrix_unit_segments.hpp) are shared out to blocks
/// that compute slices of k.

#include <cuda_runtime_api.h>

#include <tessera/detail/emulated_segments.hpp>

#include "cuda/gemm/common/ceil_div.hpp"

namespace tessera::cuda::wgmma {

constexpr int chunk_k = static_cast<int>(detail::emulated_chunk);

/// How the segments of a product are shared out to slices of k, which different blocks compute. The first slice adds up
/// the sums of its segments; in the other slices the sum of each segment is written to a plane of its own. So the
/// planes, added in ascending order, give the bits of a single slice.
struct SegmentSlices {
  Index segments;
  int slices;

  /// Returns the first segment of a slice, or their number if `slice` is `slices`.
  constexpr __host__ __device__ Index first(int slice) const { return segments * slice / slices; }
  constexpr __host__ __device__ Index planes() const { return 1 + segments - first(1); }
};

} // namespace tessera::cuda::wgmma
