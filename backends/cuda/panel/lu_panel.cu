/// LU with pivots of a panel: by one cluster of blocks where the rows fit, else by a cooperative grid.

#include "cuda/queue/scratch.hpp"
#include "cuda/queue/stream.hpp"
#include "lu_factorisation.cuh"
#include "team_launch.hpp"

namespace tessera::cuda {
namespace {

template <class T, class Shape, class Exchange>
__global__ void __launch_bounds__(Shape::threads, 1) factor_lu(LuPanel<T> panel) {
  extern __shared__ __align__(16) unsigned char memory[];
  LuFactorisation<T, Shape, Exchange>(panel, *reinterpret_cast<LuShared<T, Shape, Exchange>*>(memory)).run();
}

template <class T, class Shape, class Exchange>
TeamLaunch team_of(LuPanel<T>& panel, int blocks) {
  return {.kernel = reinterpret_cast<const void*>(factor_lu<T, Shape, Exchange>),
          .argument = &panel,
          .blocks = blocks,
          .threads = Shape::threads,
          .bytes = sizeof(LuShared<T, Shape, Exchange>),
          .name = "LU panel"};
}

/// Runs the first of these shapes with which a cluster of blocks holds the rows: threads that have fewer others in
/// their block take less time for a column.
template <class T, class Shape, class... Larger>
Status run_cluster(cudaStream_t stream, LuPanel<T>& panel) noexcept {
  constexpr int most = ClusterExchange<T>::most_blocks;
  if (panel.rows <= most * Shape::rows) {
    const int blocks = blocks_of_cluster((panel.rows + Shape::rows - 1) / Shape::rows);
    return launch_cluster(stream, team_of<T, Shape, ClusterExchange<T>>(panel, blocks));
  }
  if constexpr (sizeof...(Larger) > 0)
    return run_cluster<T, Larger...>(stream, panel);
  else
    return {StatusCode::Rejected, "an LU panel of more rows than a cluster of blocks holds"};
}

template <class T>
Status run_cluster(cudaStream_t stream, LuPanel<T>& panel) noexcept {
  if constexpr (NumberOf<T>::is_complex)
    return run_cluster<T, LuShape<128, 1>, LuShape<256, 1>, LuShape<512, 1>>(stream, panel);
  else
    return run_cluster<T, LuShape<128, 1>, LuShape<256, 1>, LuShape<512, 1>, LuShape<512, 2>>(stream, panel);
}

template <class T>
Status run_grid(Executor& executor, Queue& queue, LuPanel<T>& panel) noexcept {
  using Shape = LuShape<512, 1>;
  const int blocks = (panel.rows + Shape::rows - 1) / Shape::rows;
  Scratch scratch;
  if (Status status = scratch.allocate(executor, queue, GridExchange<T>::bytes(blocks)); !status.ok()) return status;
  panel.memory = scratch.data();
  return launch_grid(executor, stream_of(queue), team_of<T, Shape, GridExchange<T>>(panel, blocks));
}

template <class T>
Status run(Executor& executor, Queue& queue, const PanelCall& call) noexcept {
  LuPanel<T> panel{static_cast<T*>(call.a),
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
    Status status = run_cluster(stream_of(queue), panel);
    if (status.code != StatusCode::Rejected) return status;
  }
  return run_grid(executor, queue, panel);
}

} // namespace

Status factor_lu_panel(Executor& executor, Queue& queue, const PanelCall& call) noexcept {
  constexpr Index most_rows = Index{1} << 30;
  if (call.rows > most_rows) return {StatusCode::Rejected, "an LU panel of more than 2^30 rows"};
  return for_number_of(call, [&]<class T>(T) { return run<T>(executor, queue, call); });
}

} // namespace tessera::cuda
