#pragma once

/// Launches of blocks that work on a panel together.

#include <cstddef>

#include <cuda_runtime_api.h>
#include <tessera/executor.hpp>
#include <tessera/status.hpp>

namespace tessera::cuda {

struct TeamLaunch {
  const void* kernel;
  void* argument; ///< its only one
  int blocks;
  int groups = 1;    ///< of so many blocks each; a cluster is one
  int threads;       ///< of a block
  std::size_t bytes; ///< of a block's shared memory
  const char* name;  ///< for errors
};

/// Returns how many blocks a cluster has in which so many have rows: a power of two, of at least two.
inline int blocks_of_cluster(int blocks) {
  int power = 2;
  while (power < blocks) power *= 2;
  return power;
}

/// Launches one cluster of at least two blocks, or returns Rejected where the device has no place for it.
Status launch_cluster(cudaStream_t stream, const TeamLaunch& team) noexcept;

/// Launches a cooperative grid, or returns Rejected where not all blocks are resident at once.
Status launch_grid(const Executor& executor, cudaStream_t stream, const TeamLaunch& team) noexcept;

} // namespace tessera::cuda
