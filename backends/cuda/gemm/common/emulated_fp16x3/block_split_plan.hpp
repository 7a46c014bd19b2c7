#pragma once

/// The plan of a product whose blocks split their operands in shared memory: in how many pieces each segment of k is
/// computed. The bits do not depend on it. This header holds no device code, so that a test on the host can look at the
/// choices.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include <tessera/backend/kernel.hpp>
#include <tessera/detail/emulated_segments.hpp>

#include "cuda/gemm/common/ceil_div.hpp"

namespace tessera::cuda::block_split {

constexpr int tile_lines = 64; ///< rows, and columns, of a block's tile

struct BlockSplitPlan {
  int piece_chunks = 0; ///< chunks of k that a block computes; all of them lie in one segment
};

/// How the chunks of k are shared out: pieces of each segment, one for a block. The first piece of a segment adds its
/// chunks up. Of the other pieces each chunk's sums are kept in a plane of their own, because the contract says in
/// which order they are added.
struct Pieces {
  int chunks, segment_chunks, piece_chunks;

  constexpr __host__ __device__ int segments() const { return ceil_div(chunks, segment_chunks); }
  /// Returns the number of pieces of a segment that is whole. The last one may have fewer chunks.
  constexpr __host__ __device__ int of_segment() const { return ceil_div(segment_chunks, piece_chunks); }
  constexpr __host__ __device__ int count() const {
    return (segments() - 1) * of_segment() + ceil_div(last_chunks(), piece_chunks);
  }
  /// Returns the number of planes of a segment that is whole.
  constexpr __host__ __device__ int segment_planes() const { return planes_of(segment_chunks); }
  constexpr __host__ __device__ int planes() const {
    return (segments() - 1) * segment_planes() + planes_of(last_chunks());
  }

 private:
  constexpr __host__ __device__ int last_chunks() const { return chunks - (segments() - 1) * segment_chunks; }
  constexpr __host__ __device__ int planes_of(int of_chunks) const {
    return of_chunks > piece_chunks ? 1 + of_chunks - piece_chunks : 1;
  }
};

inline Pieces pieces_of(const GemmCall& call, int piece_chunks) {
  return {static_cast<int>(ceil_div<Index>(call.k, detail::emulated_chunk)),
          static_cast<int>(detail::emulated_segment_chunks(call.k)), piece_chunks};
}

/// Says whether vectors of 16 bytes can be read along the lines of an operand as stored.
inline bool lines_have_vectors(const void* data, Index ld) noexcept {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && ld % 4 == 0;
}

/// Estimates the microseconds of a product by a plan, fitted to an H200 (docs/lab/random_shapes.md). A chunk takes
/// longer where lanes read single elements along k.
inline double time_of(const GemmCall& call, const BlockSplitPlan& plan, Index multiprocessors) {
  constexpr double start = 3.6, another_wave = 1.6, singly = 0.35, adding = 1.8;
  constexpr double planes_rate = 6e6; // bytes a microsecond
  const bool a_singly = call.op_a == Op::None && !lines_have_vectors(call.a, call.lda);
  const bool b_singly = call.op_b == Op::Transpose && !lines_have_vectors(call.b, call.ldb);
  const double chunk =
      (call.math == Math::ScaledFp16 ? 1.75 : 2.3) + singly * (static_cast<int>(a_singly) + static_cast<int>(b_singly));
  const Pieces pieces = pieces_of(call, plan.piece_chunks);
  const Index tiles = ceil_div<Index>(call.m, tile_lines) * ceil_div<Index>(call.n, tile_lines);
  const auto waves = static_cast<double>(ceil_div<Index>(tiles * pieces.count(), multiprocessors));
  const double multiplying = waves * plan.piece_chunks * chunk + (waves - 1) * another_wave;
  const double bytes = static_cast<double>(tiles * pieces.planes()) * tile_lines * tile_lines * 8;
  return start + multiplying + (pieces.planes() > 1 ? adding + bytes / planes_rate : 0);
}

struct Estimate {
  double microseconds = std::numeric_limits<double>::infinity();
  BlockSplitPlan plan = {};
};

/// Returns the plan that is done first.
inline Estimate best_of(const GemmCall& call, Index multiprocessors) {
  Estimate best;
  if (std::max({call.m, call.n, call.k, call.lda, call.ldb}) >= Index{1} << 30) return best;
  const auto chunks = static_cast<int>(
      std::min(ceil_div<Index>(call.k, detail::emulated_chunk), detail::emulated_segment_chunks(call.k)));
  for (int pieces = 1; pieces <= std::min(chunks, 8); ++pieces) {
    const BlockSplitPlan plan{ceil_div(chunks, pieces)};
    if (const double time = time_of(call, plan, multiprocessors); time < best.microseconds) best = {time, plan};
  }
  return best;
}

} // namespace tessera::cuda::block_split
