/// Launches for systems of at most 32 rows: which group of lanes has one.

#include <algorithm>

#include "cuda/queue/stream.hpp"
#include "lane_systems.cuh"
#include "launch.cuh"

namespace tessera::cuda {
namespace {

/// Blocks of the largest systems are small, because their shared memory must not be more than 48 KiB.
template <class T, int lanes>
constexpr int threads_of_block = sizeof(T) == 16 && lanes == 32 ? 64 : 128;

/// How many blocks a multiprocessor is to have; more would leave a thread too few registers.
template <class T, int lanes>
constexpr int blocks_at_once = sizeof(T) == 16  ? 4
                               : lanes <= 8     ? 8
                               : lanes == 16    ? 6
                               : sizeof(T) == 4 ? 5
                                                : 4;

template <class T, int lanes>
__global__ void __launch_bounds__((threads_of_block<T, lanes>), (blocks_at_once<T, lanes>))
    solve_in_lanes(Systems<T> systems) {
  constexpr int groups = threads_of_block<T, lanes> / lanes;
  __shared__ LaneShared<T, lanes> shared[groups];
  const int group = static_cast<int>(threadIdx.x) / lanes;
  LaneSystem<T, lanes>(systems, shared[group], static_cast<Index>(blockIdx.x) * groups + group).run();
}

template <class T, int lanes>
Status launch(Queue& queue, const PanelCall& call) noexcept {
  constexpr int threads = threads_of_block<T, lanes>;
  constexpr Index groups = threads / lanes;
  const Systems<T> systems = systems_of<T>(call);
  const Index blocks = (systems.count + groups - 1) / groups;
  if (blocks > most_blocks) return {StatusCode::Rejected, "there are more systems than a launch can have"};
  const cudaStream_t stream = stream_of(queue);
  const auto kernel = solve_in_lanes<T, lanes>;
  if (Status status = prefer_shared(kernel, "small systems in lanes"); !status.ok()) return status;
  kernel<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(systems);
  return launched("small systems in lanes");
}

template <class T>
Status run(Queue& queue, const PanelCall& call) noexcept {
  const Index size = std::max(call.rows, call.cols);
  if (size <= 4) return launch<T, 4>(queue, call);
  if (size <= 8) return launch<T, 8>(queue, call);
  if (size <= 16) return launch<T, 16>(queue, call);
  return launch<T, 32>(queue, call);
}

} // namespace

Status systems_in_lanes(Queue& queue, const PanelCall& call) noexcept {
  return for_number_of(call, [&]<class T>(T) { return run<T>(queue, call); });
}

} // namespace tessera::cuda
