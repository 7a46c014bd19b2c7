/// LU with pivots of a panel: by one cluster of blocks where the rows fit, else by a cooperative grid.

#include <algorithm>

#include "cuda/device/shared_memory.hpp"
#include "cuda/device/status.hpp"
#include "cuda/queue/scratch.hpp"
#include "cuda/queue/stream.hpp"
#include "lu_factorisation.cuh"

namespace tessera::cuda {
namespace {

template <class T, int each, class Exchange>
__global__ void __launch_bounds__(lu_threads, 1) factor_lu(LuPanel<T> panel) {
  extern __shared__ __align__(16) unsigned char memory[];
  LuFactorisation<T, each, Exchange>(panel, *reinterpret_cast<LuShared<T, each, Exchange>*>(memory)).run();
}

template <class T, int each>
Status run_cluster(cudaStream_t stream, const LuPanel<T>& panel, int blocks) noexcept {
  const auto kernel = factor_lu<T, each, ClusterExchange<T>>;
  if (Status status = allow_most_shared(kernel, "LU panel"); !status.ok()) return status;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {static_cast<unsigned>(blocks), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(blocks);
  config.blockDim = lu_threads;
  config.dynamicSmemBytes = sizeof(LuShared<T, each, ClusterExchange<T>>);
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  if (blocks > 8) { // a part of a device may have no place for so large a cluster
    if (Status status = check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
                              "larger clusters for an LU panel");
        !status.ok())
      return status;
    int clusters = 0;
    if (Status status = check(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config), "room for an LU panel");
        !status.ok())
      return status;
    if (clusters == 0) return {StatusCode::Rejected, "no room for a cluster of blocks"};
  }
  return check(cudaLaunchKernelEx(&config, kernel, panel), "LU panel");
}

template <class T, int each>
Status run_grid(Executor& executor, Queue& queue, LuPanel<T> panel, int blocks) noexcept {
  const auto kernel = factor_lu<T, each, GridExchange<T>>;
  constexpr std::size_t bytes = sizeof(LuShared<T, each, GridExchange<T>>);
  const cudaStream_t stream = stream_of(queue);
  if (Status status = allow_most_shared(kernel, "LU panel"); !status.ok()) return status;
  int resident = 0;
  if (Status status = check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, lu_threads, bytes),
                            "room for an LU panel");
      !status.ok())
    return status;
  if (blocks > resident * executor.capabilities().multiprocessors)
    return {StatusCode::Rejected, "an LU panel of more rows than the device's multiprocessors hold at once"};
  Scratch scratch;
  if (Status status = scratch.allocate(executor, queue, GridExchange<T>::bytes(blocks)); !status.ok()) return status;
  panel.memory = scratch.data();
  void* arguments[] = {&panel};
  return check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), static_cast<unsigned>(blocks),
                                           lu_threads, arguments, bytes, stream),
               "LU panel");
}

/// Returns the fewest blocks of a power of two that hold the rows.
int power_of_two(int blocks) {
  int power = 1;
  while (power < blocks) power *= 2;
  return power;
}

template <class T>
Status run(Executor& executor, Queue& queue, const PanelCall& call) noexcept {
  const LuPanel<T> panel{static_cast<T*>(call.a),
                         call.lda,
                         static_cast<T*>(call.s),
                         call.lds,
                         static_cast<int>(call.rows),
                         static_cast<int>(call.cols),
                         call.first,
                         call.numbers,
                         call.failed,
                         nullptr};
  constexpr int few = 1, many = 2; // rows of a thread
  const auto blocks = [&](int each) { return (panel.rows + each * lu_threads - 1) / (each * lu_threads); };
  if (executor.capabilities().compute_major == 9) {
    constexpr int fewest = 2, most = ClusterExchange<T>::most_blocks; // st.async is for clusters of several blocks
    const auto run_clusters = [&]() -> Status {
      if (blocks(few) <= most)
        return run_cluster<T, few>(stream_of(queue), panel, std::max(fewest, power_of_two(blocks(few))));
      if (blocks(many) <= most) return run_cluster<T, many>(stream_of(queue), panel, most);
      return {StatusCode::Rejected, "more rows than a cluster of blocks holds"};
    };
    if (Status status = run_clusters(); status.code != StatusCode::Rejected) return status;
  }
  return run_grid<T, few>(executor, queue, panel, blocks(few));
}

} // namespace

Status factor_lu_panel(Executor& executor, Queue& queue, const PanelCall& call) noexcept {
  constexpr Index most_rows = Index{1} << 30;
  if (call.rows > most_rows) return {StatusCode::Rejected, "an LU panel of more than 2^30 rows"};
  return call.type == DType::F32 ? run<float>(executor, queue, call) : run<double>(executor, queue, call);
}

} // namespace tessera::cuda
