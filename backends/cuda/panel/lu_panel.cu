/// LU with pivots of a panel: by one cluster of blocks where the rows fit, else by a cooperative grid.

#include "cuda/device/shared_memory.hpp"
#include "cuda/device/status.hpp"
#include "cuda/queue/scratch.hpp"
#include "cuda/queue/stream.hpp"
#include "lu_factorisation.cuh"

namespace tessera::cuda {
namespace {

template <class T, class Shape, class Exchange>
__global__ void __launch_bounds__(Shape::threads, 1) factor_lu(LuPanel<T> panel) {
  extern __shared__ __align__(16) unsigned char memory[];
  LuFactorisation<T, Shape, Exchange>(panel, *reinterpret_cast<LuShared<T, Shape, Exchange>*>(memory)).run();
}

template <class T, class Shape>
Status run_cluster(cudaStream_t stream, const LuPanel<T>& panel, int blocks) noexcept {
  const auto kernel = factor_lu<T, Shape, ClusterExchange<T>>;
  if (Status status = allow_most_shared(kernel, "LU panel"); !status.ok()) return status;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {static_cast<unsigned>(blocks), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(blocks);
  config.blockDim = Shape::threads;
  config.dynamicSmemBytes = sizeof(LuShared<T, Shape, ClusterExchange<T>>);
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

template <class T, class Shape>
Status run_grid(Executor& executor, Queue& queue, LuPanel<T> panel) noexcept {
  const auto kernel = factor_lu<T, Shape, GridExchange<T>>;
  constexpr std::size_t bytes = sizeof(LuShared<T, Shape, GridExchange<T>>);
  const cudaStream_t stream = stream_of(queue);
  if (Status status = allow_most_shared(kernel, "LU panel"); !status.ok()) return status;
  const int blocks = (panel.rows + Shape::rows - 1) / Shape::rows;
  int resident = 0;
  if (Status status = check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, Shape::threads, bytes),
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
                                           Shape::threads, arguments, bytes, stream),
               "LU panel");
}

/// Runs the first of these shapes with which a cluster of blocks holds the rows: threads that have fewer others in
/// their block take less time for a column.
template <class T, class Shape, class... Larger>
Status run_clusters(cudaStream_t stream, const LuPanel<T>& panel) noexcept {
  constexpr int fewest = ClusterExchange<T>::fewest_blocks, most = ClusterExchange<T>::most_blocks;
  if (panel.rows <= most * Shape::rows) {
    int blocks = fewest;
    while (blocks * Shape::rows < panel.rows) blocks *= 2;
    return run_cluster<T, Shape>(stream, panel, blocks);
  }
  if constexpr (sizeof...(Larger) > 0)
    return run_clusters<T, Larger...>(stream, panel);
  else
    return {StatusCode::Rejected, "an LU panel of more rows than a cluster of blocks holds"};
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
  if (executor.capabilities().compute_major == 9) {
    Status status =
        run_clusters<T, LuShape<128, 1>, LuShape<256, 1>, LuShape<512, 1>, LuShape<512, 2>>(stream_of(queue), panel);
    if (status.code != StatusCode::Rejected) return status;
  }
  return run_grid<T, LuShape<512, 1>>(executor, queue, panel);
}

} // namespace

Status factor_lu_panel(Executor& executor, Queue& queue, const PanelCall& call) noexcept {
  constexpr Index most_rows = Index{1} << 30;
  if (call.rows > most_rows) return {StatusCode::Rejected, "an LU panel of more than 2^30 rows"};
  return call.type == DType::F32 ? run<float>(executor, queue, call) : run<double>(executor, queue, call);
}

} // namespace tessera::cuda
