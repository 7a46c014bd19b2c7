#pragma once

/// What a kernel of the ladder runs on packed operands: it splits and packs the operands, chooses the tile's width and
/// the slices of k, and launches the product.

#include <algorithm>
#include <array>

#include <tessera/detail/matrix_unit_segments.hpp>
#include <tessera/executor.hpp>

#include "cuda/device/shared_memory.hpp"
#include "cuda/device/status.hpp"
#include "cuda/gemm/common/emulated_fp16x3/plan.hpp"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/programmatic_launch.cuh"
#include "cuda/gemm/common/segment_sums.cuh"
#include "cuda/queue/scratch.hpp"
#include "cuda/queue/stream.hpp"
#include "product.cuh"
#include "strict_lines.hpp"

namespace tessera::cuda::wgmma {

inline const char* reject(const GemmKernel&, const GemmCall& call, const Capabilities& machine) noexcept {
  if (machine.compute_major != 9)
    return "warpgroup matrix instructions need compute capability 9.0 (Hopper); use another kernel of this math mode";
  if (call.k >= Index{1} << 30) return "k is over 2³⁰; use math mode strict";
  return nullptr;
}

/// Rejects as well what is the strict product in the emulated modes.
inline const char* reject_emulated(const GemmKernel& kernel, const GemmCall& call,
                                   const Capabilities& machine) noexcept {
  if (const char* reason = reject(kernel, call, machine)) return reason;
  if (!fp16x3::is_strict(call)) return nullptr;
  static_assert(detail::emulated_strict_k(Math::ScaledFp16) == 64 && detail::emulated_strict_k(Math::Strict) == 256);
  return call.math == Math::ScaledFp16 ? "the mode is the strict product where k is at most 64; use the kernel strict"
                                       : "the mode is the strict product where k is at most 256; use the kernel strict";
}

/// Returns the number of slices of k that gives each cluster work; no slice is less than a segment.
inline int choose_slices(Index tiles, Index clusters, Index segments) {
  return static_cast<int>(std::clamp<Index>(clusters / tiles, 1, segments));
}

/// Splits and packs both operands. Lines with elements that cannot be split are marked, if there are marks.
template <class R>
Status split_operands(cudaStream_t stream, const StridedOperands<float>& x, const SplitOperand& a,
                      const SplitOperand& b, const UnfitLines& unfit) noexcept {
  if (unfit.any != nullptr)
    if (Status status =
            check(cudaMemsetAsync(unfit.any, 0, static_cast<std::size_t>(unfit.bytes), stream), "clearing marks");
        !status.ok())
      return status;
  const StridedMatrix<float> rows{x.a, x.a_row, x.a_col, x.m, x.k}, columns{x.b, x.b_col, x.b_row, x.n, x.k};
  if (Status status = split_operand(stream, R::type, rows, a, unfit, Marks::Rows); !status.ok()) return status;
  return split_operand(stream, R::type, columns, b, unfit, Marks::Columns);
}

/// Runs a product in tiles of `tile_n` columns, `clusters` of which run at once.
template <class R, int tile_n>
Status run_tiles(const char* name, Executor& executor, Queue& queue, const GemmCall& call, Index clusters) noexcept {
  using S = Stages<R, tile_n>;
  constexpr bool may_be_unfit = R::emulates;
  const cudaStream_t stream = stream_of(queue);
  const StridedOperands<float> x(call);
  const Index tiles_m = ceil_div<Index>(call.m, cluster * tile_m);
  const Index tiles_n = ceil_div<Index>(call.n, tile_n);
  SplitOperand a(call.m, call.k, tile_m, tiles_m * cluster, R::block_k, R::terms, R::type, R::scaled);
  SplitOperand b(call.n, call.k, tile_n, tiles_n, R::block_k, R::terms, R::type, R::scaled);
  // The cuts of k are the contract's: of 16-bit operands, or of the emulated modes.
  const Index segment_k = R::emulates ? detail::emulated_segment_chunks(call.k) * detail::emulated_chunk
                                      : detail::matrix_unit_segment_length(call.k);
  const Index segment_blocks = segment_k / R::block_k, segments = ceil_div(a.blocks, segment_blocks);
  const SegmentSlices cut{segments, choose_slices(tiles_m * tiles_n, clusters, segments)};
  const Index planes = cut.slices == 1 ? 0 : cut.planes();

  ScratchLayout layout;
  const std::size_t a_at = layout.add(a.bytes());
  const std::size_t b_at = layout.add(b.bytes());
  const std::size_t unfit_at = layout.add(may_be_unfit ? UnfitLines::bytes_for(call.m, call.n) : 0);
  const std::size_t sums_at = layout.add(planes * call.m * call.n * 4);
  Scratch scratch;
  if (Status status = scratch.allocate(executor, queue, layout.size()); !status.ok()) return status;
  char* const memory = scratch.as<char>();
  a.data = memory + a_at;
  b.data = memory + b_at;
  const UnfitLines unfit = may_be_unfit ? UnfitLines(memory + unfit_at, call.m, call.n) : UnfitLines();
  if (Status status = split_operands<R>(stream, x, a, b, unfit); !status.ok()) return status;

  PackedProduct params{.a = a.data,
                       .b = b.data,
                       .m = x.m,
                       .n = x.n,
                       .blocks = static_cast<int>(a.blocks),
                       .segment_blocks = static_cast<int>(segment_blocks),
                       .tiles_m = static_cast<int>(tiles_m),
                       .tiles_n = static_cast<int>(tiles_n),
                       .cut = cut,
                       .sums = reinterpret_cast<float*>(memory + sums_at),
                       .to = ScaledResult<float>::of(call),
                       .c_pairs = x.ldc % 2 == 0 && reinterpret_cast<std::uintptr_t>(x.c) % 8 == 0,
                       .epilogue = x.epilogue,
                       .unfit = unfit};
  constexpr unsigned shared = S::shared_bytes;
  if (Status status = allow_most_shared(product<R, tile_n>, name); !status.ok()) return status;
  const Launch how{.blocks = std::min(tiles_m * tiles_n * cut.slices, clusters) * cluster,
                   .threads = threads,
                   .shared = shared,
                   .programmatic = true, // after the kernel that packs op(B)
                   .cluster = cluster};
  if (Status status = launch_kernel(stream, how, name, product<R, tile_n>, params); !status.ok()) return status;
  if (planes > 0) {
    const SegmentSums<float> sums{.sums = params.sums, .segments = planes, .epilogue = x.epilogue, .unfit = unfit};
    if (Status status = launch_add_segments(stream, sums, name); !status.ok()) return status;
  }
  return may_be_unfit ? run_strict_for(unfit, queue, call) : Status{};
}

/// Runs a kernel's product with the tile width, of these in ascending order, that is done first.
template <class R, int... widths>
Status run(const GemmKernel& kernel, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  const Index clusters = std::max(1, executor.capabilities().multiprocessors / cluster);
  static_assert(fp16x3::packed_rows == cluster * tile_m);
  constexpr std::array all{widths...};
  constexpr std::array runs{run_tiles<R, widths>...};
  const auto chosen = std::find(all.begin(), all.end(), fp16x3::choose_tile_n(call, clusters, {widths...}));
  return runs[static_cast<std::size_t>(chosen - all.begin())](kernel.name, executor, queue, call, clusters);
}

} // namespace tessera::cuda::wgmma
