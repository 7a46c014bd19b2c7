#pragma once

/// How operands get from where they are into shared memory: boxes of a tensor map, copied into a ring of stages by a
/// producer. A box has 64 elements of 16 bits (or 32 of 32) in a line, whichever way the operand is stored: 64 k of
/// some rows of op(A), or 64 rows of some k. PTX ISA, "cp.async.bulk.tensor"; NVIDIA CUTLASS has the scheme.

#include <cuda.h>

#include "tma_plan.hpp"
#include "wgmma_pipeline.cuh"

namespace tessera::cuda::tma {

using wgmma::cluster;
using wgmma::consumers;
using wgmma::threads;
using wgmma::tile_m;

/// k of a stage: a line of 128 bytes.
constexpr __host__ __device__ int block_k_of(UnitType type) { return 128 / bytes_of(type); }
constexpr int staging = 4 << 10; ///< bytes for each consuming warp's results on their way to memory

template <int tile_n_, Sharing sharing_, bool multicast_>
struct Stages {
  static constexpr int tile_n = tile_n_;
  static constexpr Sharing sharing = sharing_;
  static constexpr bool multicast = multicast_;
  static constexpr int sharers = multicast ? cluster : 1;
  // Few columns: tiles of 64 rows, and a block of k for each consumer, not other rows.
  static constexpr int rows = sharing == Sharing::Results && tile_n == widest_few_columns ? 64 : tile_m;
  static constexpr int blocks = tile_m / rows;
  static constexpr int b_own = multicast ? tile_n / cluster : tile_n; ///< what a block fetches, for itself or for both
  static_assert(!multicast || sharing == Sharing::B);
  // Room for whole boxes of an MN-major B: of 64 columns, the last of which may pass the end of a tile.
  static constexpr int b_lines = (tile_n + 63) / 64 * 64;
  static constexpr unsigned a_bytes = tile_m * 128, b_bytes = blocks * b_lines * 128, bytes = a_bytes + b_bytes;
  static constexpr unsigned staging_bytes = consumers * 4 * staging;
  static constexpr int count = (wgmma::shared_limit - 1024 - staging_bytes) / bytes;
  static constexpr unsigned all_bytes = count * bytes + staging_bytes;

  /// Bytes that come into a stage.
  static constexpr __host__ __device__ unsigned bytes_with(Major b) {
    return b == Major::MN ? bytes : a_bytes + blocks * tile_n * 128;
  }
};

/// op(A), or op(B) transposed: "rows" are m or n.
struct Operand {
  CUtensorMap map;
  Major major;
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

namespace ptx = ::cuda::ptx;

/// Starts copies of `rows` rows of one block of k, from `row` and `k` on. They arrive as lines, one after the other, a
/// line for each row; or, where the operand is MN-major, a line for each k of so many rows as a line holds.
template <UnitType type, int rows, class... Blocks>
__device__ void fetch(const Operand& x, char* to, int row, int k, std::uint64_t* full, Blocks... blocks) {
  if (x.major == Major::K) {
    const int place[3]{k, row, 0};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, &x.map, place, full, blocks...);
    return;
  }
#pragma unroll
  for (int r = 0; r < rows; r += block_k_of(type)) {
    const int place[3]{row + r, k, 0};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to + r * 128, &x.map, place, full, blocks...);
  }
}

__device__ inline void prefetch(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

#endif

} // namespace tessera::cuda::tma
