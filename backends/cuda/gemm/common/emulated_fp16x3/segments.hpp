#pragma once

/// Says how k is cut in the mode emulated_fp16x3: into chunks, which have scales of their own, and into segments of
/// chunks. The cuts depend on k alone, so that a result depends on its row, its column and k, not on m and n.

#include <cuda_runtime_api.h>

#include <algorithm>

#include <tessera/types.hpp>

#include "cuda/gemm/common/ceil_div.hpp"

namespace tessera::cuda::wgmma {

constexpr int chunk_k = 128;
constexpr Index most_segments = 4; ///< more would cost large products time, which keep sums of segments in memory
constexpr Index least_segment_chunks = 8;

/// Returns the number of chunks of each segment but the last, which may have fewer.
constexpr Index segment_chunks(Index k) {
  return std::max(least_segment_chunks, ceil_div(ceil_div<Index>(k, chunk_k), most_segments));
}

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
