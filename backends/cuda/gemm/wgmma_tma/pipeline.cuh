#pragma once

/// Describes how operands get from memory into shared memory: the producer copies boxes of a tensor map into a ring of
/// stages. A line of a box has 64 elements of 16 bits, or 32 of 32 bits, whichever way the operand is stored: 64 k of
/// some rows of op(A), or 64 rows of some k. Sources: PTX ISA, "cp.async.bulk.tensor"; NVIDIA CUTLASS for the scheme.

#include <cuda.h>

#include "cuda/gemm/common/wgmma_pipeline.cuh"
#include "cuda/gemm/common/wgmma_tma/plan.hpp"

namespace tessera::cuda::tma {

using wgmma::cluster;
using wgmma::consumers;
using wgmma::threads;
using wgmma::tile_m;

/// Returns the k of a stage, which fill a line of 128 bytes.
constexpr __host__ __device__ int block_k_of(MatrixUnitType type) { return 128 / bytes_of(type); }
constexpr int staging = 4 << 10; ///< bytes of each consumer warp for results on their way to memory

template <int rows_, int tile_n_, Sharing sharing_>
struct Stages {
  static constexpr int rows = rows_, tile_n = tile_n_;
  static constexpr Sharing sharing = sharing_;
  static constexpr int sharers = sharing == Sharing::B ? cluster : 1;
  static constexpr int b_own = TilingPlan{rows, tile_n, sharing}.own_columns();
  static constexpr bool beside = rows == 64; ///< the consumers differ in the half of the columns, not in the rows
  static constexpr int columns = beside ? tile_n / consumers : tile_n; ///< columns of a consumer
  // There is room for whole boxes of an MN-major B, which have 64 columns; the last one may pass the end of the tile.
  static constexpr int b_lines = (tile_n + 63) / 64 * 64;
  static constexpr unsigned a_bytes = rows * 128, b_bytes = b_lines * 128, bytes = a_bytes + b_bytes;
  static constexpr unsigned staging_bytes = consumers * 4 * staging;
  static constexpr int count = (wgmma::shared_limit - 1024 - staging_bytes) / bytes;
  static constexpr unsigned all_bytes = count * bytes + staging_bytes;

  /// Says whether the copy engine stores a tile's results while the next tile is multiplied.
  static constexpr bool sends_boxes = TilingPlan{rows, tile_n, sharing}.sends_boxes();
  /// Says whether the sums of earlier segments wait in memory.
  static constexpr bool stashes = tile_n >= TilingPlan::stashed_columns;

  /// Returns the byte offset of a consumer's part of B from the beginning of B in a stage. A line has a column, or 64
  /// of them for one k.
  static constexpr __host__ __device__ int b_of(int consumer, Major major) {
    return !beside ? 0 : consumer * (major == Major::MN && columns < 64 ? columns * 2 : columns * 128);
  }
};

/// op(A), or op(B) transposed; "rows" are m or n. Copies never ask for rows outside of it: for such rows the copy
/// engine is much slower when most multiprocessors are at work (docs/lab/cuda_gemm.md).
struct TensorOperand {
  CUtensorMap map;
  CUtensorMap edge; ///< for the rows of the last box, if these are fewer and the operand is K-major
  Major major;
  int count; ///< rows
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

namespace ptx = ::cuda::ptx;

using wgmma::elected;

/// The rows of an operand from `row` on, of which there may be fewer than `rows`; `plane` is the number of a batch's
/// operand. They arrive in shared memory as
/// consecutive lines: one for each row; or, where the operand is MN-major, one for each k and as many rows as a line
/// holds.
template <MatrixUnitType type, int rows, Major major>
class OperandRows {
  static constexpr int block_k = block_k_of(type);

 public:
  __device__ OperandRows(const TensorOperand& x, int row, int plane = 0)
      : row_(row),
        there_(min(rows, x.count - row)),
        plane_(plane),
        map_(major == Major::K && there_ < rows ? &x.edge : &x.map) {}

  /// Returns the number of lines for a block of k.
  __device__ int lines() const {
    return major == Major::K ? max(there_, 0) : ceil_div(max(there_, 0), block_k) * block_k;
  }
  /// Starts the copies of the block of k from `k` on, to this block or, if `blocks` is given, to several blocks of the
  /// cluster.
  template <class... Blocks>
  __device__ void fetch(char* to, int k, std::uint64_t* full, Blocks... blocks) const {
    constexpr int box = major == Major::K ? rows : block_k;
#pragma unroll
    for (int r = 0; r < rows; r += box) {
      const int place[3]{major == Major::K ? k : row_ + r, major == Major::K ? row_ : k, plane_};
      if (r < there_)
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to + r * 128, map_, place, full, blocks...);
    }
  }

 private:
  int row_, there_, plane_;
  const CUtensorMap* map_;
};

/// Prefetches the maps of an operand whose boxes have `rows` rows.
template <int rows>
__device__ void prefetch(const TensorOperand& x) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&x.map) : "memory");
  if (x.major == Major::K && x.count % rows != 0) asm volatile("prefetch.tensormap [%0];" ::"l"(&x.edge) : "memory");
}

#endif

} // namespace tessera::cuda::tma
