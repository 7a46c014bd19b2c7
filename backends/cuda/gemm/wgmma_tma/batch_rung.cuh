#pragma once

/// Describes a batch's operands and launches its kernel.

#include "batch_product.cuh"
#include "cuda/device/shared_memory.hpp"
#include "cuda/gemm/common/wgmma_tma/batch.hpp"
#include "rung.cuh"

namespace tessera::cuda::tma {

template <MatrixUnitType type, int rows, int tile_n, Sharing sharing = Sharing::Nothing>
Status launch_batch(cudaStream_t stream, const BatchProduct& x, const Launch& how) noexcept {
  using S = BatchStages<rows, tile_n, sharing>;
  constexpr const char* name = "batch by tensor maps";
  const auto kernel = batch_product<type, rows, tile_n, sharing>;
  if (Status status = allow_most_shared(kernel, name); !status.ok()) return status;
  Launch launch = how;
  launch.shared = S::all_bytes;
  return launch_kernel(stream, launch, name, kernel, x);
}

template <MatrixUnitType type>
Status run_batch(cudaStream_t stream, const GemmBatch& group, Index multiprocessors) noexcept {
  constexpr Index block_k = block_k_of(type);
  constexpr unsigned cache_line = TensorShape{}.cache_line;
  const GemmCall& call = group.call;
  const bool by_ends = group.ends.data != nullptr;
  const TilingPlan plan = choose_batch_plan(group, multiprocessors);
  const ProductSize size = ProductSize::of(call.m, call.n, call.k, bytes_of(type));
  BatchProduct x{.a = {},
                 .b = {},
                 .planes_a = !by_ends && group.stride_a != 0,
                 .planes_b = group.stride_b != 0,
                 .c = {},
                 .in_boxes = false,
                 .to = results_of(call, nullptr, 0),
                 .ends = group.ends,
                 .products = static_cast<int>(group.count),
                 .tiles_m = static_cast<int>(ceil_div<Index>(call.m, plan.cluster_rows())),
                 .tiles_n = static_cast<int>(ceil_div<Index>(call.n, plan.tile_n)),
                 .blocks = static_cast<int>(size.blocks),
                 .segment_blocks = static_cast<int>(size.segment_blocks)};
  x.to.plane = group.stride_c;
  x.to.vectors =
      x.to.vectors && (group.count == 1 || group.stride_c * static_cast<Index>(size_of(call.result)) % 16 == 0);
  const Planes planes_a{x.planes_a ? group.count : 1, group.stride_a},
      planes_b{x.planes_b ? group.count : 1, group.stride_b};
  if (Status status = describe(call.type, StoredOperand::a_of(call, bytes_of(type)), plan.tile_m, block_k, cache_line,
                               x.a, planes_a);
      !status.ok())
    return status;
  if (Status status = describe(call.type, StoredOperand::b_of(call, bytes_of(type)), plan.own_columns(), block_k,
                               cache_line, x.b, planes_b);
      !status.ok())
    return status;
  x.in_boxes = plan.tile_n > 192 && x.to.vectors && x.to.beta == 0;
  if (x.in_boxes)
    if (Status status = describe_results(call, false, x.c, {by_ends ? 1 : group.count, group.stride_c}); !status.ok())
      return status;
  if (by_ends) x.a.count = 1 << 30; // boxes of A are whole ones, because products end anywhere
  const Index most =
      by_ends ? (call.m / plan.cluster_rows() + group.count) * x.tiles_n : Index{x.tiles_m} * x.tiles_n * group.count;
  const bool pairs = plan.sharing == Sharing::Nothing && plan.tile_m * plan.tile_n >= 128 * 128 && most > 1;
  const int together = pairs ? 2 : plan.cluster();
  const Index at_once = BatchTileModel::blocks_at_once(plan.tile_m, plan.tile_n);
  const Index clusters =
      std::min(multiprocessors * at_once / together, ceil_div<Index>(most * plan.cluster(), together));
  const Launch how{
      .blocks = std::max<Index>(clusters, 1) * together, .threads = threads, .programmatic = true, .cluster = together};
  if (plan.sharing == Sharing::B) return launch_batch<type, 128, 256, Sharing::B>(stream, x, how);
  if (plan.tile_n == 256) return launch_batch<type, 128, 256>(stream, x, how);
  if (plan.tile_m == 128 && plan.tile_n == 128) return launch_batch<type, 128, 128>(stream, x, how);
  if (plan.tile_m == 128) return launch_batch<type, 128, 64>(stream, x, how);
  if (plan.tile_n == 128) return launch_batch<type, 64, 128>(stream, x, how);
  return launch_batch<type, 64, 64>(stream, x, how);
}

} // namespace tessera::cuda::tma
