#pragma once

/// What runs where the larger operand is not packed, with one term of each element or two: packing of the smaller
/// operand, the product, the sums of slices, and the strict product of lines that cannot be split.

#include "cuda/device/shared_memory.hpp"
#include "cuda/device/tensor_map.hpp"
#include "cuda/gemm/common/segment_sums.cuh"
#include "cuda/queue/scratch.hpp"
#include "cuda/queue/stream.hpp"
#include "split_operands.cuh"
#include "strict_lines.hpp"
#include "unpacked.cuh"
#include "unpacked_product.cuh"

namespace tessera::cuda::wgmma::unpacked {

using fp16x3::LargeOperand;

inline Status encode(const LargeOperand& x, Index box_lines, CUtensorMap& map) noexcept {
  const Index pitch = (x.lines > 1 ? x.ld : ceil_div<Index>(x.length, 4) * 4) * static_cast<Index>(sizeof(float));
  return encode_tensor_map(map, DType::F32, x.data,
                           {x.length, x.lines, 1, pitch, x.lines * pitch, static_cast<unsigned>(box_lines), 128, 256});
}

template <int tile_n, int terms>
auto kernel_of(const LargeOperand& x) {
  if (x.along_k) return x.swapped ? product<tile_n, terms, Major::K, true> : product<tile_n, terms, Major::K, false>;
  return x.swapped ? product<tile_n, terms, Major::MN, true> : product<tile_n, terms, Major::MN, false>;
}

template <int tile_n, int terms>
Status launch(cudaStream_t stream, const LargeOperand& large, const UnpackedProduct& x, Index clusters,
              const char* name) noexcept {
  using S = Stages<tile_n, terms>;
  const auto kernel = kernel_of<tile_n, terms>(large);
  constexpr unsigned shared = S::bytes;
  if (Status status = allow_most_shared(kernel, name); !status.ok()) return status;
  const Launch how{.blocks = clusters * cluster,
                   .threads = threads,
                   .shared = shared,
                   .programmatic = true, // after the kernel that packs the small operand
                   .cluster = cluster};
  return launch_kernel(stream, how, name, kernel, x);
}

template <int terms>
Status run(const char* name, Executor& executor, Queue& queue, const GemmCall& call,
           const fp16x3::UnpackedPlan& plan) noexcept {
  const cudaStream_t stream = stream_of(queue);
  const StridedOperands<float> operands(call);
  const LargeOperand large(call);
  const bool swapped = large.swapped;
  const Index rows = swapped ? call.n : call.m, columns = swapped ? call.m : call.n;
  const Index panels = ceil_div<Index>(columns, plan.tile_n);
  SplitOperand small(columns, call.k, plan.tile_n,
                     plan.shares_large ? ceil_div<Index>(panels, cluster) * cluster : panels, block_k, terms,
                     MatrixUnitType::Fp16, true);
  const Index segment_blocks = fp16x3::segment_blocks_of(call);
  const SegmentSlices cut{ceil_div(small.blocks, segment_blocks), plan.slices};
  const bool in_planes = cut.slices > 1 || call.beta != 0 || call.epilogue.residual != nullptr;

  ScratchLayout layout;
  const std::size_t small_at = layout.add(small.bytes());
  const std::size_t unfit_at = layout.add(UnfitLines::bytes_for(call.m, call.n));
  const Index planes = in_planes ? cut.slices > 1 ? cut.planes() : 1 : 0;
  const std::size_t planes_at = layout.add(planes * call.m * call.n * 4);
  Scratch scratch;
  if (Status status = scratch.allocate(executor, queue, layout.size()); !status.ok()) return status;
  char* const memory = scratch.as<char>();
  small.data = memory + small_at;
  const UnfitLines unfit(memory + unfit_at, call.m, call.n);
  float* const sums = reinterpret_cast<float*>(memory + planes_at);

  const StridedOperands<float>& x = operands;
  const StridedMatrix<float> source = swapped ? StridedMatrix<float>{x.a, x.a_row, x.a_col, x.m, x.k}
                                              : StridedMatrix<float>{x.b, x.b_col, x.b_row, x.n, x.k};
  if (Status status = split_operand(stream, MatrixUnitType::Fp16, source, small, unfit, Marks::Cleared); !status.ok())
    return status;

  const Index ld = in_planes ? x.n : x.ldc;
  UnpackedProduct product{.map = {},
                          .edge = {},
                          .small = small.data,
                          .rows = static_cast<int>(rows),
                          .columns = static_cast<int>(columns),
                          .blocks = static_cast<int>(small.blocks),
                          .segment_blocks = static_cast<int>(segment_blocks),
                          .cut = cut,
                          .tiles = static_cast<int>(ceil_div<Index>(rows, tile_m)),
                          .panels = static_cast<int>(small.panels),
                          .shares_large = plan.shares_large,
                          .to = in_planes ? sums : x.c,
                          .row_step = swapped ? 1 : ld,
                          .column_step = swapped ? ld : 1,
                          .plane = x.m * x.n,
                          .alpha = in_planes ? 1 : x.alpha,
                          .with_epilogue = x.epilogue.wanted && !in_planes,
                          .epilogue = x.epilogue,
                          .unfit = unfit};
  if (const Index last = large.lines % box_rows; large.along_k && last > 0)
    if (Status status = encode(large, last, product.edge); !status.ok()) return status;
  if (Status status = encode(large, large.along_k ? box_rows : block_k, product.map); !status.ok()) return status;
  const Index items = (plan.shares_large ? product.tiles * small.panels / cluster
                                         : ceil_div<Index>(product.tiles, cluster) * small.panels) *
                      cut.slices;
  const Index clusters = std::clamp<Index>(executor.capabilities().multiprocessors / cluster, 1, items);
  const auto start = plan.tile_n == 32 ? launch<32, terms> : plan.tile_n == 64 ? launch<64, terms> : launch<128, terms>;
  if (Status status = start(stream, large, product, clusters, name); !status.ok()) return status;
  if (in_planes) {
    const SegmentSums<float> all{.sums = sums, .segments = planes, .epilogue = x.epilogue, .unfit = unfit};
    if (Status status = launch_add_segments(stream, all, name); !status.ok()) return status;
  }
  return run_strict_for(unfit, queue, call);
}

} // namespace tessera::cuda::wgmma::unpacked
