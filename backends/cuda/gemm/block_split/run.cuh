#pragma once

/// What is launched where blocks split their operands themselves, into one term of each element or two.

#include <tessera/executor.hpp>

#include "add_planes.cuh"
#include "cuda/device/shared_memory.hpp"
#include "cuda/gemm/common/emulated_fp16x3/block_split_run.hpp"
#include "cuda/queue/scratch.hpp"
#include "cuda/queue/stream.hpp"
#include "product.cuh"

namespace tessera::cuda::block_split {

/// Launches the product, and the addition of its planes if there are several.
template <int terms>
Status launch(const char* name, Executor& executor, Queue& queue, const GemmCall& call, Product& x) noexcept {
  const cudaStream_t stream = stream_of(queue);
  const Index tiles = x.order.tiles();
  Planes& planes = x.planes;
  Scratch scratch;
  if (planes.count > 1) {
    ScratchLayout layout;
    const std::size_t sums_at = layout.add(planes.count * planes.size * 4);
    const std::size_t rows_at = layout.add(planes.count * planes.rows * 4);
    const std::size_t columns_at = layout.add(planes.count * planes.columns * 4);
    if (Status status = scratch.allocate(executor, queue, layout.size()); !status.ok()) return status;
    char* const memory = scratch.as<char>();
    planes.sums = reinterpret_cast<float*>(memory + sums_at);
    planes.row_factors = reinterpret_cast<float*>(memory + rows_at);
    planes.column_factors = reinterpret_cast<float*>(memory + columns_at);
  }
  const Launch multiplying{
      .blocks = tiles * x.pieces.count(), .threads = threads, .shared = sizeof(Shared<terms>), .programmatic = true};
  const Status status = with_layouts(call, [&](auto a, auto b) {
    const auto kernel = product<terms, a.value, b.value>;
    if (Status allowed = allow_most_shared(kernel, name); !allowed.ok()) return allowed;
    return launch_kernel(stream, multiplying, name, kernel, x);
  });
  if (!status.ok() || planes.count == 1) return status;
  constexpr int most = 4; // segments of the emulated modes
  const int segments = x.pieces.segments(), groups = most / segments;
  const Launch adding{.blocks = ceil_div<Index>(planes.size / 2, Index{groups} * 32),
                      .threads = segments * groups * 32,
                      .programmatic = true};
  return launch_kernel(stream, adding, name, add_planes<most>, x, segments, groups);
}

template <int terms>
Status run(const char* name, Executor& executor, Queue& queue, const GemmCall& call,
           const BlockSplitPlan& plan) noexcept {
  const StridedOperands<float> whole(call);
  const Pieces pieces = pieces_of(call, plan.piece_chunks);
  const Index tiles_m = ceil_div<Index>(call.m, tile_lines), tiles_n = ceil_div<Index>(call.n, tile_lines);
  Product x{.whole = whole,
            .pieces = pieces,
            .a_vectors = lines_have_vectors(call.a, call.lda),
            .b_vectors = lines_have_vectors(call.b, call.ldb),
            .c_pairs = whole.ldc % 2 == 0 && reinterpret_cast<std::uintptr_t>(whole.c) % 8 == 0,
            .order = RasterOrder(tiles_m, tiles_n, 1024 / tile_lines),
            .planes = {.sums = nullptr,
                       .row_factors = nullptr,
                       .column_factors = nullptr,
                       .size = tiles_m * tiles_n * tile_lines * tile_lines,
                       .rows = tiles_m * tile_lines,
                       .columns = tiles_n * tile_lines,
                       .count = pieces.planes()}};
  return launch<terms>(name, executor, queue, call, x);
}

} // namespace tessera::cuda::block_split
