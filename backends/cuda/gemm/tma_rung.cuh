#pragma once

/// A rung of 16-bit operands by tensor maps: describes them, copies what the copy engine cannot read, runs the product.

#include <tessera/executor.hpp>

#include "add_slices.cuh"
#include "aligned_copy.cuh"
#include "scratch.hpp"
#include "status.hpp"
#include "stream.hpp"
#include "tensor_map.hpp"
#include "tma_plan.hpp"
#include "tma_product.cuh"

namespace tessera::cuda::tma {

inline const char* reject(const GemmKernel&, const GemmCall& call, const Capabilities& machine) noexcept {
  if (machine.compute_major != 9)
    return "warpgroup matrix instructions need compute capability 9.0 (Hopper); use another row of this math mode";
  if (std::max({call.m, call.n, call.k}) >= Index{1} << 30) return "m, n or k is 2³⁰ or more; use math mode strict";
  return nullptr;
}

/// An operand as it is stored, row by row.
struct Stored {
  const void* data;
  Index rows, cols, ld;

  /// Can the copy engine not read it?
  bool unaligned() const { return reinterpret_cast<std::uintptr_t>(data) % 16 != 0 || (rows > 1 && ld % 8 != 0); }
  Index copy_bytes() const { return unaligned() ? rows * aligned_pitch(cols) * 2 : 0; }
};

/// Fills in how a kernel reads `x`, after a copy to `copy` if it has to be one. `box_rows`: lines of one copy.
inline Status describe(cudaStream_t stream, DType type, Stored x, void* copy, Major major, unsigned box_rows,
                       Operand& out, const char* name) noexcept {
  if (x.unaligned()) {
    if (Status status = copy_aligned(stream, x.data, x.rows, x.cols, x.ld, copy, name); !status.ok()) return status;
    x.data = copy;
    x.ld = aligned_pitch(x.cols);
  }
  out.major = major;
  const Index pitch = (x.rows > 1 ? x.ld : aligned_pitch(x.cols)) * 2;
  return encode_tensor_map(out.map, type, x.data, {x.cols, x.rows, 1, pitch, x.rows * pitch, box_rows});
}

template <UnitType type, int tile_n>
Status launch(cudaStream_t stream, const Product& x, Index clusters, const char* name) noexcept {
  using S = Stages<tile_n>;
  if (Status status = allow_shared(product<type, tile_n>, S::all_bytes, name); !status.ok()) return status;
  cudaLaunchAttribute in_clusters{};
  in_clusters.id = cudaLaunchAttributeClusterDimension;
  in_clusters.val.clusterDim = {cluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(std::min(Index{x.tiles_m} * x.tiles_n * x.slices, clusters) * cluster);
  config.blockDim = threads;
  config.dynamicSmemBytes = S::all_bytes;
  config.stream = stream;
  config.attrs = &in_clusters;
  config.numAttrs = 1;
  return check(cudaLaunchKernelEx(&config, product<type, tile_n>, x), name);
}

/// What a row runs.
template <UnitType type>
Status run(const GemmKernel& row, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  const cudaStream_t stream = stream_of(queue);
  const Index clusters = std::max(1, executor.capabilities().multiprocessors / cluster);
  const Index blocks = ceil_div<Index>(call.k, block_k);
  const Plan plan = choose_plan(call.m, call.n, blocks, clusters);
  const bool a_flipped = call.op_a == Op::Transpose, b_flipped = call.op_b == Op::Transpose;
  const Stored a{call.a, a_flipped ? call.k : call.m, a_flipped ? call.m : call.k, call.lda};
  const Stored b{call.b, b_flipped ? call.n : call.k, b_flipped ? call.k : call.n, call.ldb};
  const bool sliced = plan.slices > 1;
  const Index pitch = ceil_div<Index>(call.n, 4) * 4;

  ScratchLayout layout;
  const std::size_t a_at = layout.add(a.copy_bytes());
  const std::size_t b_at = layout.add(b.copy_bytes());
  const std::size_t sums_at = layout.add(sliced ? plan.slices * call.m * pitch * 4 : 0);
  Scratch scratch;
  if (layout.size() > 0)
    if (Status status = scratch.allocate(executor, queue, layout.size()); !status.ok()) return status;
  char* const memory = scratch.as<char>();

  Product x{};
  const unsigned own_n = static_cast<unsigned>(plan.tile_n / cluster);
  if (Status status = describe(stream, call.type, a, memory + a_at, a_flipped ? Major::MN : Major::K,
                               a_flipped ? block_k : tile_m, x.a, row.name);
      !status.ok())
    return status;
  if (Status status = describe(stream, call.type, b, memory + b_at, b_flipped ? Major::K : Major::MN,
                               b_flipped ? own_n : std::min<unsigned>(own_n, block_k), x.b, row.name);
      !status.ok())
    return status;

  const DType result = sliced ? DType::F32 : call.result;
  x.to.c = sliced ? memory + sums_at : call.c;
  x.to.ldc = sliced ? pitch : call.ldc;
  x.to.plane = call.m * pitch;
  x.to.m = static_cast<int>(call.m);
  x.to.n = static_cast<int>(sliced ? pitch : call.n);
  x.to.alpha = sliced ? 1 : static_cast<float>(call.alpha);
  x.to.beta = sliced ? 0 : static_cast<float>(call.beta);
  x.to.narrow = result != DType::F32;
  x.to.vectors = reinterpret_cast<std::uintptr_t>(x.to.c) % 16 == 0 &&
                 (call.m == 1 || x.to.ldc * static_cast<Index>(size_of(result)) % 16 == 0);
  x.blocks = static_cast<int>(blocks);
  x.tiles_m = static_cast<int>(ceil_div<Index>(call.m, cluster * tile_m));
  x.tiles_n = static_cast<int>(ceil_div<Index>(call.n, plan.tile_n));
  x.slices = plan.slices;
  if (Status status = plan.tile_n == 256   ? launch<type, 256>(stream, x, clusters, row.name)
                      : plan.tile_n == 128 ? launch<type, 128>(stream, x, clusters, row.name)
                                           : launch<type, 64>(stream, x, clusters, row.name);
      !status.ok())
    return status;
  if (!sliced) return {};
  return launch_add_slices(stream,
                           {reinterpret_cast<const float*>(memory + sums_at), plan.slices, x.to.m,
                            static_cast<int>(call.n), static_cast<int>(pitch), call.c, call.ldc, call.result,
                            static_cast<float>(call.alpha), static_cast<float>(call.beta)},
                           row.name);
}

} // namespace tessera::cuda::tma
