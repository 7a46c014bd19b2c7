#include "strict_lines.hpp"

#include "cuda/gemm/common/async_copy_tile.cuh"
#include "cuda/gemm/common/programmatic_launch.cuh"
#include "cuda/queue/stream.hpp"

namespace tessera::cuda {
namespace {

using namespace async_tiling;

/// Computes the results in marked rows and columns.
template <Along a_along, Along b_along>
__global__ void __launch_bounds__(Tiles<float>::threads, 2)
    async_copy_of_lines(VectorOperands<float> x, UnfitLines lines) {
  using S = Tiles<float>;
  launch_dependents();
  wait_for_kernel_before();
  if (!lines.found()) return;
  const TileOrigin origin = tile_origin(x, S::block_m, S::block_n);
  bool marked = false;
  for (int at = static_cast<int>(threadIdx.x); at < S::block_m; at += S::threads)
    marked = marked || (origin.row + at < x.m && lines.rows[origin.row + at] != 0);
  for (int at = static_cast<int>(threadIdx.x); at < S::block_n; at += S::threads)
    marked = marked || (origin.col + at < x.n && lines.columns[origin.col + at] != 0);
  if (__syncthreads_or(marked) == 0) return;
  __shared__ Stages<S, stages_of<float>> shared;
  multiply_tile_at<S, stages_of<float>, a_along, b_along>(
      x, origin, shared, [&](Index row, Index col, const auto& sums, auto& totals) {
        const float* const held = held_in(totals, sums);
#pragma unroll 1
        for (int e = 0; e < S::rows * S::cols; ++e) {
          const auto place = warp_tiling::place_of<S>(e / S::width);
          const Index i = row + place.row, j = col + place.col + e % S::width;
          if (i >= x.m || j >= x.n || !lines.has(i, j)) continue;
          const float one[1][1]{{held[e]}};
          x.epilogue.store([&](int) -> ResultPlace { return {i, j}; }, one);
        }
      });
}

} // namespace

Status run_strict_for(const UnfitLines& lines, Queue& queue, const GemmCall& call) noexcept {
  using S = Tiles<float>;
  const VectorOperands<float> x(call);
  const Launch how{.blocks = tile_count(call, S::block_m, S::block_n), .threads = S::threads, .programmatic = true};
  return with_layouts(call, [&](auto a, auto b) {
    return launch_kernel(stream_of(queue), how, "async_copy of lines", async_copy_of_lines<a.value, b.value>, x, lines);
  });
}

} // namespace tessera::cuda
