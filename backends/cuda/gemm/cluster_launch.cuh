#pragma once

/// Launching a kernel in clusters of blocks. CUDA C++ Programming Guide, "Thread Block Clusters" and "Programmatic
/// Dependent Launch".

#include <cuda_runtime_api.h>

#include <tessera/types.hpp>

#include "status.hpp"

namespace tessera::cuda {

struct ClusterLaunch {
  Index clusters;
  int blocks;         ///< of each
  int threads;        ///< of a block
  unsigned shared;    ///< bytes that a block asks for
  bool early = false; ///< may start before the kernel before has ended, for which it waits itself
};

template <class X>
Status launch_in_clusters(void (*kernel)(X), const ClusterLaunch& launch, cudaStream_t stream, const X& x,
                          const char* name) noexcept {
  if (Status status = allow_shared(kernel, launch.shared, name); !status.ok()) return status;
  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim = {static_cast<unsigned>(launch.blocks), 1, 1};
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(launch.clusters * launch.blocks);
  config.blockDim = static_cast<unsigned>(launch.threads);
  config.dynamicSmemBytes = launch.shared;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = launch.early ? 2 : 1;
  return check(cudaLaunchKernelEx(&config, kernel, x), name);
}

} // namespace tessera::cuda
