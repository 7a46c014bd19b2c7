#pragma once

/// Describes what a row by a warp's matrix instructions runs: copies of operands whose lines are not aligned, the tile,
/// the launch.

#include <algorithm>

#include <tessera/detail/matrix_unit_segments.hpp>
#include <tessera/executor.hpp>

#include "cuda/device/status.hpp"
#include "cuda/gemm/common/copies/stored_operand.cuh"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/programmatic_launch.cuh"
#include "cuda/gemm/ladder.hpp"
#include "cuda/memory/scratch.hpp"
#include "cuda/queue/stream.hpp"
#include "plan.hpp"
#include "product.cuh"

namespace tessera::cuda::warp_mma {

inline const char* reject(const GemmKernel&, const GemmCall& call, const Capabilities& machine) noexcept {
  if (machine.compute_major < 8)
    return "bf16, tf32 and these instructions need compute capability 8.0 or higher; use math mode strict";
  if (std::max({call.m, call.n, call.k}) >= Index{1} << 30) return "m, n or k is 2³⁰ or more; use math mode strict";
  return nullptr;
}

inline StoredLines lines_of(const StoredOperand& x) noexcept {
  return {static_cast<const char*>(x.data), x.ld * x.element, static_cast<int>(x.lines), static_cast<int>(x.length),
          lines_are_aligned(x.data, x.lines, x.ld, x.element)};
}

template <class T, class Tile>
Status launch(cudaStream_t stream, const GemmCall& call, Product& x, bool programmatic, const char* name) noexcept {
  const Index tiles_m = ceil_div<Index>(call.m, Tile::side), tiles_n = ceil_div<Index>(call.n, Tile::side);
  x.order = RasterOrder(tiles_m, tiles_n, 1024 / Tile::side);
  const Launch how{.blocks = tiles_m * tiles_n * x.parts,
                   .threads = Tile::threads,
                   .shared = Tile::bytes(x.parts),
                   .programmatic = programmatic,
                   .cluster = x.parts > 1 ? x.parts : 0};
  return with_layouts(call, [&](auto a, auto b) {
    const auto kernel = product<T, Tile, a.value, b.value>;
    if (Status status = allow_shared(kernel, how.shared, name); !status.ok()) return status;
    return launch_kernel(stream, how, name, kernel, x);
  });
}

/// Runs the product of operands of T; float stands for tf32. The kernel reads f32 whose lines begin anywhere, but in
/// large tiles. Other operands that are not aligned are copied first.
template <class T>
Status run(const GemmKernel& row, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  const cudaStream_t stream = stream_of(queue);
  StoredOperand a = StoredOperand::a_of(call, sizeof(T)), b = StoredOperand::b_of(call, sizeof(T));
  const bool programmatic = executor.capabilities().compute_major >= 9;
  Scratch scratch;
  const Plan plan = plan_of(call, sizeof(T), executor.capabilities());
  if (sizeof(T) == 2 || plan.side == Large::side) {
    ScratchLayout layout;
    const std::size_t a_at = layout.add(a.copy_bytes()), b_at = layout.add(b.copy_bytes());
    if (layout.size() > 0)
      if (Status status = scratch.allocate(executor, queue, layout.size()); !status.ok()) return status;
    char* const memory = scratch.as<char>();
    if (Status status =
            copy_operands(stream, {a.become_copy(memory + a_at), b.become_copy(memory + b_at)}, row.name, programmatic);
        !status.ok())
      return status;
  }
  Product x{.m = call.m,
            .n = call.n,
            .k = call.k,
            .segment = detail::matrix_unit_segment_length(call.k),
            .parts = plan.parts,
            .a = lines_of(a),
            .b = lines_of(b),
            .c = call.c,
            .ldc = call.ldc,
            .alpha = static_cast<float>(call.alpha),
            .beta = static_cast<float>(call.beta),
            .narrow = call.result != DType::F32,
            .order = RasterOrder(1, 1, 1),
            .epilogue = EpilogueStore<float>(call)};
  static_assert(Least::side == tiles[0].side && Small::side == tiles[1].side && Middle::side == tiles[2].side &&
                Large::side == tiles[3].side);
  switch (plan.side) {
    case Least::side:
      return launch<T, Least>(stream, call, x, programmatic, row.name);
    case Small::side:
      return launch<T, Small>(stream, call, x, programmatic, row.name);
    case Middle::side:
      return launch<T, Middle>(stream, call, x, programmatic, row.name);
    default:
      return launch<T, Large>(stream, call, x, programmatic, row.name);
  }
}

/// Returns the row `name` for operands of `type`, which T is.
template <class T>
constexpr GemmKernel row(const char* name, const char* summary, DType type, Math math) {
  return {.name = name,
          .summary = summary,
          .source = "CUTLASS",
          .type = type,
          .math = math,
          .tile = {Large::side, Large::side, depth_bytes / sizeof(T)},
          .summation = Summation::HopperUnits,
          .accumulator = Accumulator::Truncating,
          .reject = reject,
          .run = run<T>,
          .epilogue = true,
          .narrows = type == DType::F32};
}

} // namespace tessera::cuda::warp_mma
