#pragma once

/// The ring of stages through which operands get into shared memory for warpgroup products: a producer warp fills the
/// stages by bulk copies, and the consumer warps of all blocks of a cluster empty them. Sources: PTX ISA, "mbarrier"
/// and "cp.async.bulk"; NVIDIA CUTLASS has the scheme.

#include <algorithm>

#include "ring.cuh"
#include "wgmma.cuh"

namespace tessera::cuda::wgmma {

constexpr int tile_m = 128;
constexpr int consumers = 2; ///< consumer warpgroups, with 64 rows each
constexpr int threads = 128 * (1 + consumers);
constexpr int cluster = 2; ///< blocks that share a panel of B
constexpr int shared_limit = 227 << 10;

/// Describes how a math mode multiplies: each operand is the sum of `terms` numbers of type `type`, multiplied in
/// blocks of `block_k` steps.
template <MatrixUnitType type_, int terms_, int block_k_, int carried_every_>
struct Recipe {
  static constexpr MatrixUnitType type = type_;
  static constexpr int terms = terms_;
  static constexpr int block_k = block_k_;
  /// Steps of k after which sums move on to a second set of registers, rounded to nearest. 0: they never do.
  static constexpr int carried_every = carried_every_;
  /// Says whether it is an emulated mode: k is cut as emulated_segments.hpp says, and some lines may be strict.
  static constexpr bool emulates = carried_every > 0;
  /// Says whether the chunks of `carried_every` k have scales: a stage then ends each operand with a factor for each
  /// line.
  static constexpr bool scaled = emulates && type == MatrixUnitType::Fp16;
  static_assert(carried_every % block_k == 0);
};

/// The stages of a block: the terms of A, then the terms of B, each tile_m or tile_n lines along k.
template <class R, int tile_n_>
struct Stages {
  static constexpr int tile_n = tile_n_;
  static constexpr unsigned line_bytes = R::block_k * bytes_of(R::type); ///< bytes of a row of one term
  static constexpr unsigned a_term_bytes = tile_m * line_bytes, b_term_bytes = tile_n * line_bytes;
  static constexpr unsigned factor_bytes = R::scaled ? sizeof(float) : 0;
  static constexpr unsigned a_bytes = R::terms * a_term_bytes + tile_m * factor_bytes;
  static constexpr unsigned b_bytes = R::terms * b_term_bytes + tile_n * factor_bytes;
  static constexpr unsigned bytes = a_bytes + b_bytes;
  static constexpr unsigned most_bytes = shared_limit - 1024; ///< of stages and what is behind them

  /// With one term the sums of segments are read and written so often that they are worth a stage.
  static constexpr int least = R::scaled && R::terms == 1 ? 4 : 5;
  static constexpr unsigned sums_bytes = tile_m * tile_n * sizeof(float);
  static constexpr int count =
      R::scaled ? std::clamp<int>((most_bytes - sums_bytes) / bytes, least, 8) : std::min<int>(most_bytes / bytes, 8);
  static_assert(count >= 2 && count * bytes <= most_bytes);
  /// Sums of a thread that have room behind the stages, in vectors of four.
  static constexpr int shared_sums =
      std::min<int>((most_bytes - count * bytes) / (consumers * 128 * 16) * 4, tile_n / 2);
  static constexpr unsigned shared_bytes = count * bytes + shared_sums * consumers * 128 * sizeof(float);
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

namespace ptx = ::cuda::ptx;

/// Says whether this thread is the elected one of its warp. ptxas knows that such a thread is alone; otherwise it would
/// put a loop over lanes around each copy.
__device__ inline bool elected() {
  unsigned is;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(is));
  return is != 0;
}

template <int stages, int sharers = cluster> ///< `sharers`: blocks that fill a stage, and whose consumers empty it
struct Barriers {
  std::uint64_t full[stages];  ///< completes when the bytes of the stage have arrived
  std::uint64_t empty[stages]; ///< completes when all consumers of the cluster have released the stage

  __device__ void start() {
    for (int s = 0; s < stages; ++s) {
      ptx::mbarrier_init(&full[s], 1);
      ptx::mbarrier_init(&empty[s], sharers * consumers * 4);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  /// Tells each producer of the cluster that one warp of this block has released the stage. The warp wrote nothing that
  /// the producers must see, so the scope of the block is enough; the scope of the cluster would cost a fence of all
  /// memory (MEMBAR.ALL.GPU).
  __device__ void release(int stage, int lane) { release_at(shared_address(&empty[stage]), lane); }
  /// Releases, as release() does, the stage whose barrier `empty` is at this address in shared memory.
  __device__ static void release_at(unsigned barrier, int lane) {
    if constexpr (sharers == 1) {
      if (lane == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
    } else if (lane < sharers) {
      asm volatile(
          "{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1; mbarrier.arrive.shared::cluster.b64 _, "
          "[remote]; }" ::"r"(barrier),
          "r"(lane)
          : "memory");
    }
  }
};

/// Starts a bulk copy of `bytes` bytes to the place `to` in each block of the cluster whose bit is set in `blocks`; the
/// barrier `full` of each of them counts the bytes.
__device__ inline void fetch(char* to, const char* from, unsigned bytes, std::uint64_t* full, std::uint16_t blocks) {
  ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, to, from, bytes, full, blocks);
}
/// Starts a bulk copy of `bytes` bytes to `to` in this block; its barrier `full` counts the bytes.
__device__ inline void fetch(char* to, const char* from, unsigned bytes, std::uint64_t* full) {
  ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, to, from, bytes, full);
}
/// Tells the barrier `full` how many bytes the copies of a stage bring.
__device__ inline void expect(std::uint64_t* full, unsigned bytes) {
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full, bytes);
}

#endif

} // namespace tessera::cuda::wgmma
