#pragma once

/// The ring of stages of the kernel of planes: what a block has in shared memory, and the ring as a consumer sees it.

#include "multiply_s8.cuh"
#include "plane_work.cuh"

namespace tessera::cuda::int8_units {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

using Ring = cuda::Ring<stages>;
using Barriers = wgmma::Barriers<stages>;

/// What a block has in shared memory beside the stages.
struct Shared {
  Barriers barriers;
  WorkTile tile[stages]; ///< of the stages that are a tile's first ones
};

/// The ring as a consumer sees it. All places are addresses in shared memory, kept in registers.
class StageReader {
 public:
  __device__ StageReader(const char* stages_at, Shared& shared)
      : stages_(shared_address(stages_at)),
        full_(shared_address(&shared.barriers.full[0])),
        tiles_(shared.tile),
        a_(stages_ + (threadIdx.x / 128 - 1) * 64 * block_k) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    releases_ = lane < cluster;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(empty_)
                 : "r"(shared_address(&shared.barriers.empty[0])), "r"(releases_ != 0 ? lane : 0));
    asm volatile("" : "+r"(stages_), "+r"(full_), "+r"(a_.low), "+r"(empty_));
  }

  /// Waits for the next stage, which is a tile's first one, and returns the tile.
  __device__ WorkTile next_tile() const {
    wait_at(full_ + ring_.stage * 8, ring_.phase);
    const auto [plane, row, col] = tiles_[ring_.stage];
    return {__shfl_sync(~0U, plane, 0), __shfl_sync(~0U, row, 0), __shfl_sync(~0U, col, 0)};
  }
  /// Waits for the next stage and starts its products. Returns the stage.
  __device__ int multiply_next(int (&sum)[128], int accumulate) {
    wait_at(full_ + ring_.stage * 8, ring_.phase);
    begin_products();
    const Descriptor b(stages_ + a_bytes);
#pragma unroll
    for (int step = 0; step < block_k / 32; ++step) {
      multiply_s8(sum, a_.at(next_, step * 256), b.at(next_, step * 256), accumulate);
      accumulate = 1;
    }
    commit_products();
    const int stage = ring_.stage;
    ring_.advance();
    next_ = ring_.stage == 0 ? 0 : next_ + stage_bytes / 16;
    return stage;
  }
  /// Tells the producers of the cluster that a warp has read the stage. There is no branch, in which the compiler would
  /// wait for products.
  __device__ void release(int stage) const {
    asm volatile(
        "{ .reg .pred releases; setp.ne.b32 releases, %1, 0; @releases mbarrier.arrive.shared::cluster.b64 _, [%0]; "
        "}" ::"r"(empty_ + stage * 8),
        "r"(releases_)
        : "memory");
  }

 private:
  using Descriptor = PackedDescriptor<8 * block_k>;

  unsigned stages_, full_;
  const WorkTile* tiles_;
  Descriptor a_;
  unsigned empty_;
  int releases_;
  Ring ring_;
  unsigned next_ = 0; ///< the next stage's distance from the first, in vectors of 16 bytes
};

#endif

} // namespace tessera::cuda::int8_units
