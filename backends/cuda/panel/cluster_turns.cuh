#pragma once

/// What exchanges of messages in a cluster of blocks have in common: barriers in each block's shared memory that count
/// the bytes which arrive, and turns.
///
/// Source: CUDA C++ Programming Guide, "Thread Block Clusters".

#include <cooperative_groups.h>

#include <cstddef>
#include <cstdint>

#include "cuda/gemm/common/cluster_send.cuh"

namespace tessera::cuda {

/// Exchanges take turns with two places for messages and two barriers, because a block can be one exchange ahead of
/// another, but not two.
struct ClusterTurn {
  int place = 0;
  unsigned phase = 0; ///< of the place's barrier

  __device__ void end() {
    phase ^= static_cast<unsigned>(place);
    place ^= 1;
  }
};

/// Waits for all threads of all blocks of the cluster; what they wrote before can be read afterwards.
__device__ inline void sync_cluster() {
#if __CUDA_ARCH__ >= 900
  cooperative_groups::this_cluster().sync();
#endif
}

/// Makes the block's barriers, of which each is for one thread that says how many bytes come, and waits for the other
/// blocks.
__device__ inline void make_barriers([[maybe_unused]] std::uint64_t* barriers, [[maybe_unused]] int count) {
#if __CUDA_ARCH__ >= 900
  namespace ptx = ::cuda::ptx;
  if (threadIdx.x == 0) {
    for (int i = 0; i < count; ++i) ptx::mbarrier_init(barriers + i, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
#endif
  sync_cluster();
}

/// Says how many bytes come to a barrier; called by one thread.
__device__ inline void expect_bytes([[maybe_unused]] std::uint64_t& barrier, [[maybe_unused]] std::size_t bytes) {
#if __CUDA_ARCH__ >= 900
  namespace ptx = ::cuda::ptx;
  ptx::mbarrier_arrive_expect_tx(ptx::sem_relaxed, ptx::scope_cluster, ptx::space_shared, &barrier,
                                 static_cast<unsigned>(bytes));
#endif
}

} // namespace tessera::cuda
