#include "team_launch.hpp"

#include <utility>

#include "cuda/device/shared_memory.hpp"
#include "cuda/device/status.hpp"

namespace tessera::cuda {

Status launch_cluster(cudaStream_t stream, const TeamLaunch& team) noexcept {
  if (Status status = allow_most_shared(team.kernel, team.name); !status.ok()) return status;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {static_cast<unsigned>(team.blocks), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(team.blocks);
  config.blockDim = static_cast<unsigned>(team.threads);
  config.dynamicSmemBytes = team.bytes;
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  constexpr int most_portable = 8;
  if (team.blocks > most_portable) { // a part of a device may have no place for so large a cluster
    if (Status status =
            check(cudaFuncSetAttribute(team.kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), team.name);
        !status.ok())
      return status;
    int clusters = 0;
    if (Status status = check(cudaOccupancyMaxActiveClusters(&clusters, team.kernel, &config), team.name); !status.ok())
      return status;
    if (clusters == 0) return {StatusCode::Rejected, "no place for a cluster of blocks"};
  }
  void* arguments[] = {team.argument};
  return check(cudaLaunchKernelExC(&config, team.kernel, arguments), team.name);
}

Status launch_grid(const Executor& executor, cudaStream_t stream, const TeamLaunch& team) noexcept {
  if (Status status = allow_most_shared(team.kernel, team.name); !status.ok()) return status;
  int resident = 0;
  if (Status status = check(
          cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, team.kernel, team.threads, team.bytes), team.name);
      !status.ok())
    return status;
  if (team.blocks * team.groups > resident * executor.capabilities().multiprocessors)
    return {StatusCode::Rejected, "more rows or columns than the device's multiprocessors hold at once"};
  void* arguments[] = {team.argument};
  const dim3 grid(static_cast<unsigned>(team.blocks), static_cast<unsigned>(team.groups));
  return check(cudaLaunchCooperativeKernel(team.kernel, grid, static_cast<unsigned>(team.threads), arguments,
                                           team.bytes, stream),
               team.name);
}

} // namespace tessera::cuda
