/// segmented: async_copy with k cut into the contract's segments, for products with fewer tiles than multiprocessors.
///
/// A block multiplies one tile of C over one segment of k (1024 steps) and writes its sums; a second kernel adds the
/// sums of all segments in ascending order. The contract defines strict sums so that this changes no bit; splits of k
/// in other libraries change the result. One result costs 2·k operations, reads 2·k/128 elements from global memory
/// (k/16 bytes in f32; k/128 + k/64 elements in f64), and moves two more elements for each segment: its sum is written
/// and read. The source is split-K, for example in NVIDIA CUTLASS.

#include <tessera/executor.hpp>

#include "cuda/gemm/common/async_copy_tile.cuh"
#include "cuda/gemm/common/programmatic_launch.cuh"
#include "cuda/gemm/common/segment_sums.cuh"
#include "cuda/gemm/common/traffic.hpp"
#include "cuda/gemm/ladder.hpp"
#include "cuda/queue/stream.hpp"

namespace tessera::cuda {
namespace {

using namespace async_tiling;

constexpr Index most_segments = 65535; ///< the limit of a grid's second dimension

Index segments_of(const GemmCall& call) { return ceil_div(call.k, canonical_segment); }

template <class T, Along a_along, Along b_along>
__global__ void __launch_bounds__(Tiles<T>::threads, 2) segmented(VectorOperands<T> x, T* sums) {
  multiply_tile<T, a_along, b_along>(segment_of(x, blockIdx.y, sums));
  launch_dependents();
}

template <class T>
const char* reject(const GemmKernel& kernel, const GemmCall& call, const Capabilities& machine) noexcept {
  if (call.k <= canonical_segment)
    return "k is one segment of 1024, which is not cut; use async_copy, or no kernel's name";
  if (segments_of(call) > most_segments)
    return "k has more than 65535 segments of 1024; use async_copy, or no kernel's name";
  if (ceil_div<Index>(call.m, kernel.tile.m) * ceil_div<Index>(call.n, kernel.tile.n) >= machine.multiprocessors)
    return "C has a tile for each multiprocessor, so that cutting k gains nothing; use async_copy, or no kernel's name";
  return nullptr;
}

template <class T>
Status run(const GemmKernel& kernel, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  using S = Tiles<T>;
  const cudaStream_t stream = stream_of(queue);
  const VectorOperands<T> x(call);
  const Index segments = segments_of(call);
  Scratch scratch;
  if (Status status = allocate_sums<T>(scratch, executor, queue, segments, x.m * x.n); !status.ok()) return status;
  const dim3 blocks(tile_count(call, S::block_m, S::block_n), static_cast<unsigned>(segments));
  with_layouts(call, [&](auto a, auto b) {
    segmented<T, a.value, b.value><<<blocks, S::threads, 0, stream>>>(x, scratch.as<T>());
  });
  if (Status status = launched(kernel.name); !status.ok()) return status;
  return launch_add_segments<T>(stream, {.sums = scratch.as<T>(), .segments = segments, .epilogue = x.epilogue},
                                kernel.name, executor.capabilities().compute_major == 9);
}

template <class T>
constexpr GemmKernel rung{.name = "segmented",
                          .summary = "async_copy with a block for each tile and segment of k",
                          .source = "CUTLASS's split-K",
                          .type = dtype_of<T>,
                          .tile = {Tiles<T>::block_m, Tiles<T>::block_n, block_k},
                          .summation = Summation::Canonical,
                          .reject = reject<T>,
                          .run = run<T>,
                          .epilogue = true,
                          .narrows = sizeof(T) == 4,
                          .traffic = segments_traffic};

} // namespace

const GemmKernel segmented_f32 = rung<float>;
const GemmKernel segmented_f64 = rung<double>;

} // namespace tessera::cuda
