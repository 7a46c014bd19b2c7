/// Launches for systems that a block has in its shared memory, or in global memory.

#include <algorithm>
#include <string>

#include "block_systems.cuh"
#include "cuda/device/shared_memory.hpp"
#include "cuda/queue/scratch.hpp"
#include "cuda/queue/stream.hpp"
#include "launch.cuh"

namespace tessera::cuda {
namespace {

constexpr int small_threads = 128;
constexpr Index most_rows_of_thread = 2;

template <class T>
__global__ void __launch_bounds__(most_block_threads) solve_in_shared(Systems<T> systems) {
  extern __shared__ __align__(16) unsigned char memory[];
  BlockSystem<T, true, 1>(systems, memory, nullptr, blockIdx.x).run();
}

/// A block takes one system after another, because each block has memory for a matrix.
template <class T>
__global__ void __launch_bounds__(most_block_threads) solve_in_global(Systems<T> systems, T* matrices) {
  extern __shared__ __align__(16) unsigned char memory[];
  T* const matrix = matrices + blockIdx.x * block_stride<T>(systems.m, systems.n);
  for (Index number = blockIdx.x; number < systems.count; number += gridDim.x) {
    BlockSystem<T, false, most_rows_of_thread>(systems, memory, matrix, number).run();
    __syncthreads();
  }
}

template <class T>
Status launch_in_shared(Queue& queue, const Systems<T>& systems, int threads) noexcept {
  const cudaStream_t stream = stream_of(queue);
  const auto kernel = solve_in_shared<T>;
  if (Status status = allow_most_shared(kernel, "small systems in shared memory"); !status.ok()) return status;
  kernel<<<static_cast<unsigned>(systems.count), threads, block_bytes<T, true>(systems.m, systems.n, threads),
           stream>>>(systems);
  return launched("small systems in shared memory");
}

template <class T>
Status launch_in_global(Executor& executor, Queue& queue, const Systems<T>& systems) noexcept {
  const cudaStream_t stream = stream_of(queue);
  const auto kernel = solve_in_global<T>;
  if (Status status = allow_most_shared(kernel, "small systems in global memory"); !status.ok()) return status;
  constexpr Index blocks_of_multiprocessor = 2;
  const Index blocks = std::min(systems.count, blocks_of_multiprocessor * executor.capabilities().multiprocessors);
  Scratch matrices;
  if (Status status = matrices.allocate(
          executor, queue, static_cast<std::size_t>(blocks * block_stride<T>(systems.m, systems.n)) * sizeof(T));
      !status.ok())
    return status;
  kernel<<<static_cast<unsigned>(blocks), most_block_threads,
           block_bytes<T, false>(systems.m, systems.n, most_block_threads), stream>>>(systems, matrices.as<T>());
  return launched("small systems in global memory");
}

template <class T>
Status run(Executor& executor, Queue& queue, const PanelCall& call) noexcept {
  const Index size = std::max(call.rows, call.cols);
  if (size > most_rows_of_thread * most_block_threads || call.systems->count > most_blocks)
    return {StatusCode::Rejected, "the matrices are too large, or too many, for one launch"};
  const Systems<T> systems = systems_of<T>(call);
  const int threads = size <= small_threads ? small_threads : most_block_threads;
  const bool holds_matrix = size <= most_block_threads && block_bytes<T, true>(systems.m, systems.n, threads) <=
                                                              executor.capabilities().shared_memory_per_block;
  return holds_matrix ? launch_in_shared(queue, systems, threads) : launch_in_global(executor, queue, systems);
}

} // namespace

Status systems_in_blocks(Executor& executor, Queue& queue, const PanelCall& call) noexcept {
  return call.type == DType::F32 ? run<float>(executor, queue, call) : run<double>(executor, queue, call);
}

} // namespace tessera::cuda
