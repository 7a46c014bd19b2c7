/// async_copy: warp_tile fed by cp.async through several stages of shared memory.
///
/// Tiles go from global to shared memory without passing through registers. They are requested three tiles before their
/// use (two in f64), so that a thread waits neither for the latency of the loads nor for stores. There is one barrier a
/// tile, and shared memory is twice that of 16_warp_tile.cu. One result costs 2·k operations and reads 2·k/128 elements
/// from global memory (k/16 bytes in f32; k/128 + k/64 elements in f64). The sources are the kernel walkthrough and
/// CUTLASS, which calls this pipeline "multistage".

#include <tessera/backend/traffic.hpp>

#include "cuda/device/status.hpp"
#include "cuda/gemm/common/async_copy_tile.cuh"
#include "cuda/gemm/common/strict_fallback.hpp"
#include "cuda/gemm/ladder.hpp"
#include "cuda/queue/stream.hpp"

namespace tessera::cuda {
namespace {

using namespace async_tiling;

template <class T, Along a_along, Along b_along>
__global__ void __launch_bounds__(Tiles<T>::threads, 2) async_copy(VectorOperands<T> x, const int* condition) {
  if (condition == nullptr || *condition != 0) multiply_tile<T, a_along, b_along>(x);
}

/// Launches the product. The kernel does nothing if `condition` is not null and *condition, in device memory, is 0.
template <class T>
Status launch(Queue& queue, const GemmCall& call, const int* condition) noexcept {
  using S = Tiles<T>;
  const VectorOperands<T> x(call);
  with_layouts(call, [&](auto a, auto b) {
    async_copy<T, a.value, b.value>
        <<<tile_count(call, S::block_m, S::block_n), S::threads, 0, stream_of(queue)>>>(x, condition);
  });
  return launched("async_copy");
}

template <class T>
Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept {
  return launch<T>(queue, call, nullptr);
}

template <class T>
constexpr GemmKernel row{.name = "async_copy",
                         .summary = "warp_tile fed by cp.async through several stages of shared memory",
                         .source = "kernel walkthrough; CUTLASS",
                         .type = dtype_of<T>,
                         .tile = {Tiles<T>::block_m, Tiles<T>::block_n, block_k},
                         .summation = Summation::Canonical,
                         .run = run<T>,
                         .epilogue = true,
                         .narrows = sizeof(T) == 4,
                         .traffic = tile_traffic};

} // namespace

Status run_strict_if(const int* condition, Queue& queue, const GemmCall& call) noexcept {
  return launch<float>(queue, call, condition);
}

const GemmKernel async_copy_f32 = row<float>;
const GemmKernel async_copy_f64 = row<double>;

} // namespace tessera::cuda
