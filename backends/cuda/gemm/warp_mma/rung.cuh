#pragma once

/// What a kernel of the ladder runs by a warp's matrix instructions: copies of operands whose lines are not aligned,
/// the tile, the launch.

#include <tessera/detail/matrix_unit_segments.hpp>
#include <tessera/executor.hpp>

#include "cuda/gemm/common/panel_ring/launch.cuh"
#include "cuda/gemm/ladder.hpp"
#include "cuda/queue/scratch.hpp"
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

template <class T, class Tile>
Status launch(cudaStream_t stream, const GemmCall& call, Product& x, const Capabilities& machine,
              const char* name) noexcept {
  const auto lines_of = [](const panel_ring::StoredLines& operand) {
    const bool shifted = sizeof(T) == 4 && Tile::takes_any_lines && operand.aligned < panel_ring::vector_bytes;
    return shifted ? Lines::Shifted : Lines::Aligned;
  };
  const Index of_stage = Tile::panels * Tile::panel_bytes(lines_of(x.a), lines_of(x.b));
  return panel_ring::launch<Tile>(stream, call, x, of_stage, machine, name,
                                  [](auto a, auto b) { return product<T, Tile, a.value, b.value>; });
}

/// Runs the product of operands of T; float stands for tf32. The kernel reads operands whose lines begin anywhere, but
/// in large tiles, for which they are copied first.
template <class T>
Status run(const GemmKernel& kernel, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  const cudaStream_t stream = stream_of(queue);
  StoredOperand a = StoredOperand::a_of(call, sizeof(T)), b = StoredOperand::b_of(call, sizeof(T));
  const Capabilities& machine = executor.capabilities();
  Scratch scratch;
  const WarpMmaPlan plan = plan_of(call, sizeof(T), machine);
  if (plan.side == Large::side) {
    ScratchLayout layout;
    const std::size_t a_at = layout.add(a.copy_bytes()), b_at = layout.add(b.copy_bytes());
    if (layout.size() > 0)
      if (Status status = scratch.allocate(executor, queue, layout.size()); !status.ok()) return status;
    char* const memory = scratch.as<char>();
    if (Status status = copy_operands(stream, {a.become_copy(memory + a_at), b.become_copy(memory + b_at)}, kernel.name,
                                      machine.compute_major >= 9);
        !status.ok())
      return status;
  }
  Product x{{.k = call.k,
             .segment = detail::matrix_unit_segment_length(call.k),
             .parts = plan.parts,
             .a = panel_ring::lines_of(a),
             .b = panel_ring::lines_of(b)},
            call.m,
            call.n,
            ScaledResult<float, void>::of(call),
            call.result != DType::F32,
            EpilogueStore<float>(call)};
  static_assert(Least::side == tiles[0].side && Small::side == tiles[1].side && Middle::side == tiles[2].side &&
                Large::side == tiles[3].side);
  switch (plan.side) {
    case Least::side:
      return launch<T, Least>(stream, call, x, machine, kernel.name);
    case Small::side:
      return launch<T, Small>(stream, call, x, machine, kernel.name);
    case Middle::side:
      return launch<T, Middle>(stream, call, x, machine, kernel.name);
    default:
      return launch<T, Large>(stream, call, x, machine, kernel.name);
  }
}

/// Returns the ladder's kernel `name` for operands of `type`, which T is.
template <class T>
constexpr GemmKernel rung(const char* name, const char* summary, DType type, Math math) {
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

/// Rejects what takes the kernel by tensor maps less time. `element`: bytes.
template <Index element>
const char* reject_large(const GemmKernel& kernel, const GemmCall& call, const Capabilities& machine) noexcept {
  if (const char* reason = reject(kernel, call, machine)) return reason;
  if (machine.compute_major != 9) return "the kernel mma_sync_* of this mode takes every product on this GPU; use that";
  return is_small(call, element, machine)
             ? nullptr
             : "the kernel wgmma_* of this mode takes less time for such a product; use that, or mma_sync_*";
}

/// Returns the ladder's kernel `name` for products that take these device kernels less time than Hopper's warpgroup
/// instructions.
template <class T>
constexpr GemmKernel small_row(const char* name, const char* summary, DType type, Math math) {
  GemmKernel small = rung<T>(name, summary, type, math);
  small.tile = {Small::side, Small::side, depth_bytes / sizeof(T)};
  small.reject = reject_large<sizeof(T)>;
  return small;
}

} // namespace tessera::cuda::warp_mma
