#pragma once

/// How operands get from where they are into shared memory: boxes of a tensor map, copied into a ring of stages by a
/// producer. A box has 64 elements of 16 bits (or 32 of 32) in a line, whichever way the operand is stored: 64 k of
/// some rows of op(A), or 64 rows of some k. PTX ISA, "cp.async.bulk.tensor"; NVIDIA CUTLASS has the scheme.

#include <cuda.h>

#include "cuda/gemm/common/wgmma_pipeline.cuh"
#include "plan.hpp"

namespace tessera::cuda::tma {

using wgmma::cluster;
using wgmma::consumers;
using wgmma::threads;
using wgmma::tile_m;

/// k of a stage: a line of 128 bytes.
constexpr __host__ __device__ int block_k_of(UnitType type) { return 128 / bytes_of(type); }
constexpr int staging = 4 << 10; ///< bytes for each consuming warp's results on their way to memory

template <int rows_, int tile_n_, Sharing sharing_>
struct Stages {
  static constexpr int rows = rows_, tile_n = tile_n_;
  static constexpr Sharing sharing = sharing_;
  static constexpr int sharers = sharing == Sharing::B ? cluster : 1;
  static constexpr int b_own = TilingPlan{rows, tile_n, sharing}.own_columns();
  // In a tile of 64 rows each consumer has a block of k, or half of the columns, not other rows.
  static constexpr int blocks = TilingPlan{rows, tile_n, sharing}.consumers_share() ? consumers : 1;
  static constexpr bool beside = rows == 64 && blocks == 1;
  static constexpr int columns = beside ? tile_n / consumers : tile_n; ///< of a consumer
  // Room for whole boxes of an MN-major B: of 64 columns, the last of which may pass the end of a tile.
  static constexpr int b_lines = (tile_n + 63) / 64 * 64;
  static constexpr unsigned a_bytes = blocks * rows * 128, b_bytes = blocks * b_lines * 128, bytes = a_bytes + b_bytes;
  static constexpr unsigned staging_bytes = consumers * 4 * staging;
  static constexpr int count = (wgmma::shared_limit - 1024 - staging_bytes) / bytes;
  static constexpr unsigned all_bytes = count * bytes + staging_bytes;

  /// Where in a stage a consumer's part of B begins, from B on.
  static constexpr __host__ __device__ int b_of(int consumer) { return rows < tile_m ? consumer * columns * 128 : 0; }
};

/// op(A), or op(B) transposed: "rows" are m or n. None outside is asked for: where more than half of the
/// multiprocessors are at work, the copy engine takes two and a half times as long for such a row as for others
/// (README.md).
struct TensorOperand {
  CUtensorMap map;
  CUtensorMap edge; ///< the rows of the last box, if these are fewer and K-major
  Major major;
  int count; ///< of rows
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

namespace ptx = ::cuda::ptx;

/// One thread of the warp, which ptxas knows to be alone: else it has a loop over lanes around each copy.
__device__ inline bool elected() {
  unsigned is;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(is));
  return is != 0;
}

/// `rows` rows of an operand, from `row` on, or those of them that exist. They arrive as lines, one after the other, a
/// line for each row; or, where the operand is MN-major, a line for each k of so many rows as a line holds.
template <UnitType type, int rows, Major major>
class OperandRows {
  static constexpr int block_k = block_k_of(type);

 public:
  __device__ OperandRows(const TensorOperand& x, int row)
      : row_(row), there_(min(rows, x.count - row)), map_(major == Major::K && there_ < rows ? &x.edge : &x.map) {}

  /// That make a block of k.
  __device__ int lines() const {
    return major == Major::K ? max(there_, 0) : ceil_div(max(there_, 0), block_k) * block_k;
  }
  /// Starts their copies, of the block of k from `k` on, for this block or for some.
  template <class... Blocks>
  __device__ void fetch(char* to, int k, std::uint64_t* full, Blocks... blocks) const {
    constexpr int box = major == Major::K ? rows : block_k;
#pragma unroll
    for (int r = 0; r < rows; r += box) {
      const int place[3]{major == Major::K ? k : row_ + r, major == Major::K ? row_ : k, 0};
      if (r < there_)
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to + r * 128, map_, place, full, blocks...);
    }
  }

 private:
  int row_, there_;
  const CUtensorMap* map_;
};

/// In boxes of so many rows.
template <int rows>
__device__ void prefetch(const TensorOperand& x) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&x.map) : "memory");
  if (x.major == Major::K && x.count % rows != 0) asm volatile("prefetch.tensormap [%0];" ::"l"(&x.edge) : "memory");
}

#endif

} // namespace tessera::cuda::tma
