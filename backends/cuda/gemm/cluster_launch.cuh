#pragma once

/// Launching in clusters of blocks. CUDA C++ Programming Guide, "Thread Block Clusters".

#include <cuda_runtime.h>

#include <tessera/types.hpp>

#include "status.hpp"

namespace tessera::cuda {

struct ClusterLaunch {
  Index blocks; ///< a multiple of `size`
  int size;     ///< blocks of a cluster
  int threads;
  std::size_t shared = 0; ///< dynamic, bytes
  bool early = false;     ///< before the kernel in the stream has ended, if that allows it (early_launch.cuh)
};

template <class... Arguments>
Status launch_clusters(cudaStream_t stream, const ClusterLaunch& how, const char* name, void (*kernel)(Arguments...),
                       const Arguments&... arguments) noexcept {
  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim = {static_cast<unsigned>(how.size), 1, 1};
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(how.blocks);
  config.blockDim = static_cast<unsigned>(how.threads);
  config.dynamicSmemBytes = how.shared;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = how.early ? 2 : 1;
  return check(cudaLaunchKernelEx(&config, kernel, arguments...), name);
}

} // namespace tessera::cuda
