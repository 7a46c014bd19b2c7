/// A panel of QR: by one block of threads, by a cluster of blocks, or by a whole grid, which have 1024 rows each, or
/// 512 of complex numbers.

#include "cuda/device/status.hpp"
#include "cuda/panel/panel.hpp"
#include "cuda/panel/team_launch.hpp"
#include "cuda/queue/scratch.hpp"
#include "cuda/queue/stream.hpp"
#include "reflection_panel.cuh"

namespace tessera::cuda {
namespace {

template <class T, class Team>
__global__ void __launch_bounds__(reflection_threads, 1) factor_reflections(Reflections<T> panel) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto& shared = *reinterpret_cast<ReflectionShared<T, Team>*>(memory);
  ReflectionFactor<T, Team>(panel, shared, static_cast<int>(blockIdx.x)).run();
}

template <class T, class Team>
TeamLaunch team_of(Reflections<T>& panel, int blocks) {
  return {.kernel = reinterpret_cast<const void*>(factor_reflections<T, Team>),
          .argument = &panel,
          .blocks = blocks,
          .threads = reflection_threads,
          .bytes = sizeof(ReflectionShared<T, Team>),
          .name = "QR panel"};
}

template <class T>
Status run_grid(Executor& executor, cudaStream_t stream, Reflections<T>& panel, int blocks) noexcept {
  if (blocks > 1)
    if (Status status =
            check(cudaMemsetAsync(panel.memory, 0, GridTeam<T>::bytes(blocks), stream), "messages of a QR panel");
        !status.ok())
      return status;
  return launch_grid(executor, stream, team_of<T, GridTeam<T>>(panel, blocks));
}

template <class T>
Status run(Executor& executor, Queue& queue, const PanelCall& call) noexcept {
  constexpr Index of_block = WarpColumn<T>::chunk;
  const int blocks = static_cast<int>((call.rows + of_block - 1) / of_block);
  ScratchLayout layout;
  const std::size_t segments = layout.add(blocks_of_cluster(blocks) * reflection_sums * static_cast<Index>(sizeof(T)));
  const std::size_t messages = layout.add(static_cast<Index>(GridTeam<T>::bytes(blocks)));
  Scratch scratch;
  if (Status status = scratch.allocate(executor, queue, layout.size()); !status.ok()) return status;
  using Part = PartOf<T>;
  Reflections<T> panel{.a = {static_cast<Part*>(call.a), call.lda},
                       .v = {static_cast<Part*>(call.v), call.ldv},
                       .t = {static_cast<Part*>(call.triangle), call.ld_triangle},
                       .tau = static_cast<T*>(call.tau),
                       .rows = call.rows,
                       .cols = static_cast<int>(call.cols),
                       .first = call.first,
                       .failed = call.failed,
                       .segments = reinterpret_cast<T*>(scratch.as<char>() + segments),
                       .memory = scratch.as<char>() + messages};
  if (executor.capabilities().compute_major == 9 && blocks > 1 && blocks <= ClusterTeam<T>::most_blocks)
    if (Status status = launch_cluster(stream_of(queue), team_of<T, ClusterTeam<T>>(panel, blocks_of_cluster(blocks)));
        status.code != StatusCode::Rejected)
      return status;
  return run_grid(executor, stream_of(queue), panel, blocks);
}

} // namespace

Status factor_reflection_panel(Executor& executor, Queue& queue, const PanelCall& call) noexcept {
  constexpr Index most_rows = Index{1} << 30;
  if (call.rows > most_rows) return {StatusCode::Rejected, "a QR panel of more than 2^30 rows"};
  return for_number_of(call, [&]<class T>(T) { return run<T>(executor, queue, call); });
}

} // namespace tessera::cuda
