#pragma once

/// What a kernel of the ladder runs by FMAs for few results: the tile, the launch.

#include <tessera/executor.hpp>

#include "cuda/gemm/common/panel_ring/launch.cuh"
#include "cuda/gemm/ladder.hpp"
#include "cuda/queue/stream.hpp"
#include "plan.hpp"
#include "product.cuh"

namespace tessera::cuda::warp_fma {

inline const char* reject(const GemmKernel&, const GemmCall& call, const Capabilities& machine) noexcept {
  if (machine.compute_major < 8) return "it needs compute capability 8.0 or higher; use no kernel's name";
  if (std::max({call.m, call.n, call.k}) >= Index{1} << 30) return "m, n or k is 2³⁰ or more; use no kernel's name";
  return is_small(call, machine) ? nullptr
                                 : "slender or stream_k takes less time for such a product; use no kernel's name";
}

template <class T, class Tile>
Status launch(cudaStream_t stream, const GemmCall& call, Product<T>& x, const Capabilities& machine,
              const char* name) noexcept {
  return panel_ring::launch<Tile>(stream, call, x, Tile::stage_bytes, machine, name,
                                  [](auto a, auto b) { return product<T, Tile, a.value, b.value>; });
}

template <class T>
Status run(const GemmKernel& kernel, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  const cudaStream_t stream = stream_of(queue);
  const Capabilities& machine = executor.capabilities();
  const WarpFmaPlan plan = plan_of(call, machine);
  Product<T> x{{.k = call.k,
                .segment = canonical_segment,
                .parts = plan.parts,
                .a = panel_ring::lines_of(StoredOperand::a_of(call, sizeof(T))),
                .b = panel_ring::lines_of(StoredOperand::b_of(call, sizeof(T)))},
               StridedOperands<T>(call)};
  if (plan.m == Wide<T>::m) return launch<T, Wide<T>>(stream, call, x, machine, kernel.name);
  if (plan.n == Tall<T>::n) return launch<T, Tall<T>>(stream, call, x, machine, kernel.name);
  if constexpr (sizeof(T) == 4) {
    if (plan.m == Large<T>::m) return launch<T, Large<T>>(stream, call, x, machine, kernel.name);
    if (plan.n == Flat<T>::n) return launch<T, Flat<T>>(stream, call, x, machine, kernel.name);
  }
  return launch<T, Square<T>>(stream, call, x, machine, kernel.name);
}

template <class T>
constexpr GemmKernel rung{.name = "fma_small",
                          .summary = "few results: a chain of FMAs a result, segments of k shared by a cluster",
                          .source = "CUTLASS",
                          .type = dtype_of<T>,
                          .tile = {Square<T>::m, Square<T>::n, depth},
                          .summation = Summation::Canonical,
                          .reject = reject,
                          .run = run<T>,
                          .epilogue = true,
                          .narrows = sizeof(T) == 4};

} // namespace tessera::cuda::warp_fma
