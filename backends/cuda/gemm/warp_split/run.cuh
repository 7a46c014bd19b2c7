#pragma once

/// What is launched where warps split their operands themselves, into one term of each element or two.

#include <tessera/executor.hpp>

#include "cuda/device/shared_memory.hpp"
#include "cuda/gemm/common/copies/strided_matrix.hpp"
#include "cuda/gemm/common/emulated_fp16x3/warp_split_run.hpp"
#include "cuda/queue/stream.hpp"
#include "product.cuh"

namespace tessera::cuda::warp_split {

/// Says whether lanes can read vectors of an operand whose lines, as stored, are `ld` apart: 16 bytes where a stored
/// line has k, otherwise 8.
inline bool has_vectors(const void* data, Index ld, bool along_k) noexcept {
  const Index bytes = along_k ? 16 : 8;
  return reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(bytes) == 0 &&
         ld * static_cast<Index>(sizeof(float)) % bytes == 0;
}

template <class Tile, int terms>
Status launch(cudaStream_t stream, const GemmCall& call, Product& x, const char* name) noexcept {
  const Index tiles_m = ceil_div<Index>(call.m, Tile::m), tiles_n = ceil_div<Index>(call.n, Tile::n);
  x.order = RasterOrder(tiles_m, tiles_n, 256 / Tile::m);
  const Launch how{.blocks = tiles_m * tiles_n * x.parts,
                   .threads = Tile::threads,
                   .shared = sizeof(Shared<Tile>),
                   .programmatic = true,
                   .cluster = x.parts > 1 ? x.parts : 0};
  return with_layouts(call, [&](auto a, auto b) {
    const auto kernel = product<Tile, terms, a.value, b.value>;
    if (Status status = allow_most_shared(kernel, name); !status.ok()) return status;
    return launch_kernel(stream, how, name, kernel, x);
  });
}

template <int terms>
Status run(const char* name, Executor&, Queue& queue, const GemmCall& call, const WarpSplitPlan& plan) noexcept {
  const cudaStream_t stream = stream_of(queue);
  Product x{.whole = StridedOperands<float>(call),
            .chunks = static_cast<int>(ceil_div<Index>(call.k, wgmma::chunk_k)),
            .segment_chunks = static_cast<int>(detail::emulated_segment_chunks(call.k)),
            .parts = plan.parts,
            .a_vectors = has_vectors(call.a, call.lda, call.op_a == Op::None),
            .b_vectors = has_vectors(call.b, call.ldb, call.op_b == Op::Transpose),
            .order = {1, 1, 1}};
  if (plan.down == 2) return launch<BlockTile<2, 2>, terms>(stream, call, x, name);
  if (plan.down == 4) return launch<BlockTile<4, 1>, terms>(stream, call, x, name);
  if (plan.across == 4) return launch<BlockTile<1, 4>, terms>(stream, call, x, name);
  return launch<BlockTile<1, 1>, terms>(stream, call, x, name);
}

} // namespace tessera::cuda::warp_split
