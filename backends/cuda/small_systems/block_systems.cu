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

constexpr int few_threads = 128, some_threads = 256;

/// Blocks must not have so many registers that a multiprocessor takes fewer blocks than its shared memory holds.
template <class T, int threads>
constexpr int blocks_at_once = threads == few_threads ? 4
                               : sizeof(T) == 4       ? 2
                                                      : 1;

template <class T, int threads>
__global__ void __launch_bounds__(threads, (blocks_at_once<T, threads>)) solve_in_shared(Systems<T> systems) {
  extern __shared__ __align__(16) unsigned char memory[];
  BlockSystem<T, true>(systems, memory, nullptr, blockIdx.x).run();
}

/// A block takes one system after another, because each block has memory for a matrix.
template <class T>
__global__ void __launch_bounds__(most_block_threads) solve_in_global(Systems<T> systems, T* matrices) {
  extern __shared__ __align__(16) unsigned char memory[];
  T* const matrix = matrices + blockIdx.x * block_stride<T>(systems.m, systems.n);
  for (Index number = blockIdx.x; number < systems.count; number += gridDim.x) {
    BlockSystem<T, false>(systems, memory, matrix, number).run();
    __syncthreads();
  }
}

template <class T, int threads>
Status launch_in_shared(Queue& queue, const Systems<T>& systems) noexcept {
  const cudaStream_t stream = stream_of(queue);
  const auto kernel = solve_in_shared<T, threads>;
  if (Status status = allow_most_shared(kernel, "small systems in shared memory"); !status.ok()) return status;
  if (Status status = prefer_shared(kernel, "small systems in shared memory"); !status.ok()) return status;
  kernel<<<static_cast<unsigned>(systems.count), threads, block_bytes<T, true>(systems.m, systems.n, threads),
           stream>>>(systems);
  return launched("small systems in shared memory");
}

template <class T>
Status launch_in_global(Executor& executor, Queue& queue, const Systems<T>& systems, int threads) noexcept {
  const std::size_t bytes = block_bytes<T, false>(systems.m, systems.n, threads),
                    most = executor.capabilities().shared_memory_per_block;
  if (bytes > most)
    return {StatusCode::Rejected, "systems of " + std::to_string(systems.m) + "×" + std::to_string(systems.n) +
                                      " take " + std::to_string(bytes) +
                                      " bytes of a block's shared memory, and it has " + std::to_string(most)};
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
  kernel<<<static_cast<unsigned>(blocks), threads, bytes, stream>>>(systems, matrices.as<T>());
  return launched("small systems in global memory");
}

template <class T>
Status run(Executor& executor, Queue& queue, const PanelCall& call) noexcept {
  const Index size = std::max(call.rows, call.cols);
  if (size > most_block_threads)
    return {StatusCode::Rejected, "matrices of " + std::to_string(call.rows) + "×" + std::to_string(call.cols) +
                                      " are too large: small systems have at most " +
                                      std::to_string(most_block_threads) + " rows and columns"};
  if (call.systems->count > most_blocks) return {StatusCode::Rejected, "there are more systems than a launch can have"};
  const Systems<T> systems = systems_of<T>(call);
  const auto fits = [&](int threads) {
    return size <= threads &&
           block_bytes<T, true>(systems.m, systems.n, threads) <= executor.capabilities().shared_memory_per_block;
  };
  if (fits(few_threads)) return launch_in_shared<T, few_threads>(queue, systems);
  if (fits(some_threads)) return launch_in_shared<T, some_threads>(queue, systems);
  return launch_in_global(executor, queue, systems, size <= some_threads ? some_threads : most_block_threads);
}

} // namespace

Status systems_in_blocks(Executor& executor, Queue& queue, const PanelCall& call) noexcept {
  return for_number_of(call, [&]<class T>(T) { return run<T>(executor, queue, call); });
}

} // namespace tessera::cuda
