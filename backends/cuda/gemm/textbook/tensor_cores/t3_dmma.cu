/// dmma: f64 on tensor cores, with the contract's bits.
///
/// The double-precision matrix instruction of Hopper adds its 16 products one after the other, each with one rounding:
/// that is the contract's chain, at twice the rate of DFMA. A warp computes 64×32 results; for a step of 16 k each lane
/// loads 48 elements for sixteen instructions. Tiles of 128×64×16 come by cp.async through three stages and are stored
/// as they lie in memory; rows of shared memory are padded so that fragments have no bank conflicts with any transpose.
/// One result costs 2·k operations and reads k/128 + k/64 elements from global memory (3·k/16 bytes). The sources are
/// the PTX ISA, "mma.m16n8k16 with .f64", and NVIDIA CUTLASS.

#include <tessera/backend/traffic.hpp>
#include <tessera/executor.hpp>

#include "cuda/device/shared_memory.hpp"
#include "cuda/device/status.hpp"
#include "cuda/gemm/common/dmma.cuh"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/ladder.hpp"
#include "cuda/queue/stream.hpp"

namespace tessera::cuda {
namespace {

using S = dmma_tiling::Shape<4, 4, 2, 2, 16>;
constexpr int stages = 3;

/// There are two kernels, because the code of an epilogue would slow down products without one.
template <bool with_epilogue, Along a_along, Along b_along>
__global__ void __launch_bounds__(S::threads, 2) dmma(VectorOperands<double> x) {
  extern __shared__ float4 shared[];
  auto* const stage = reinterpret_cast<S::Stage<a_along, b_along>*>(shared);
  dmma_tiling::multiply_tile<S, stages, with_epilogue>(x, tile_origin(x, S::block_m, S::block_n), stage);
}

const char* reject(const GemmKernel&, const GemmCall&, const Capabilities& machine) noexcept {
  return machine.compute_major == 9
             ? nullptr
             : "its matrix instruction needs compute capability 9.0 (Hopper); use async_copy, or "
               "no kernel's name";
}

Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept {
  const cudaStream_t stream = stream_of(queue);
  const VectorOperands<double> x(call);
  return with_layouts(call, [&](auto a, auto b) -> Status {
    const auto kernel = x.epilogue.wanted ? dmma<true, a.value, b.value> : dmma<false, a.value, b.value>;
    constexpr std::size_t bytes = stages * sizeof(S::Stage<a.value, b.value>);
    if (Status status = allow_most_shared(kernel, "dmma"); !status.ok()) return status;
    kernel<<<tile_count(call, S::block_m, S::block_n), S::threads, bytes, stream>>>(x);
    return launched("dmma");
  });
}

} // namespace

const GemmKernel dmma_f64{.name = "dmma",
                          .summary = "f64 on tensor cores, cp.async in three stages",
                          .source = "CUTLASS",
                          .type = DType::F64,
                          .tile = {S::block_m, S::block_n, S::block_k},
                          .summation = Summation::Canonical,
                          .reject = reject,
                          .run = run,
                          .epilogue = true,
                          .traffic = tile_traffic};

} // namespace tessera::cuda
