#pragma once

/// Launches a kernel whose blocks are panel_ring::run_block(): the length of the ring, the tiles, the cluster.

#include <algorithm>

#include <tessera/executor.hpp>

#include "block.cuh"
#include "cuda/device/shared_memory.hpp"
#include "cuda/gemm/common/copies/stored_operand.cuh"

namespace tessera::cuda::panel_ring {

inline StoredLines lines_of(const StoredOperand& x) noexcept {
  const Index pitch = x.ld * x.element, bytes = std::max<Index>(0, x.lines - 1) * pitch + x.length * x.element;
  return {static_cast<const char*>(x.data),
          pitch,
          static_cast<int>(x.lines),
          static_cast<int>(x.length),
          alignment_of_lines(x.data, x.lines, x.ld, x.element),
          static_cast<std::uint64_t>(std::max<Index>(0, bytes - vector_bytes + 1))};
}

/// Chooses how long the ring of stages is: as long as fits, because operands come from memory. Where a multiprocessor
/// has several blocks, they share its room. `of_stage`: bytes.
template <class Tile>
void choose_ring(Shares& x, Index blocks, Index of_stage, const Capabilities& machine) noexcept {
  constexpr Index reserved = 2 << 10; // for the driver and the barriers
  const Index sharing = blocks > machine.multiprocessors ? Tile::resident : 1;
  const Index room = static_cast<Index>(machine.shared_memory_per_block) / sharing - reserved;
  const Index stages = (room - (x.parts - 1) * Tile::sum_bytes) / of_stage;
  x.stages = static_cast<int>(std::clamp<Index>(stages, Tile::least_stages, Tile::most_stages));
  x.sums_at = static_cast<int>(x.stages * of_stage);
}

/// Launches kernel_of(a, b), where a and b are the layouts of the call's operands, with the parameters x.
template <class Tile, class Product, class KernelOf>
Status launch(cudaStream_t stream, const GemmCall& call, Product& x, Index of_stage, const Capabilities& machine,
              const char* name, KernelOf kernel_of) noexcept {
  const Index tiles_m = ceil_div<Index>(call.m, Tile::m), tiles_n = ceil_div<Index>(call.n, Tile::n);
  const Index blocks = tiles_m * tiles_n * x.parts;
  x.order = RasterOrder(tiles_m, tiles_n, 1024 / Tile::m);
  choose_ring<Tile>(x, blocks, of_stage, machine);
  const Launch how{.blocks = blocks,
                   .threads = Tile::threads,
                   .shared = static_cast<std::size_t>(x.sums_at + (x.parts - 1) * Tile::sum_bytes),
                   .programmatic = machine.compute_major >= 9,
                   .cluster = x.parts > 1 ? x.parts : 0};
  return with_layouts(call, [&](auto a, auto b) {
    const auto kernel = kernel_of(a, b);
    if (Status status = allow_most_shared(kernel, name); !status.ok()) return status;
    return launch_kernel(stream, how, name, kernel, x);
  });
}

} // namespace tessera::cuda::panel_ring
