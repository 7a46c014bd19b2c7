#pragma once

/// The second kernel, where blocks have pieces of segments: adds up chunks as the contract says.

#include "cuda/gemm/common/emulated_fp16x3/chunk_scales.cuh"
#include "cuda/gemm/common/programmatic_launch.cuh"
#include "results.cuh"

namespace tessera::cuda::block_split {

/// Adds up planes in ascending order of k and stores C. A thread has two neighbours of a row and one segment of k. The
/// warps of a block have the segments in turn, and `groups` times 32 such pairs.
template <int most_segments>
__global__ void __launch_bounds__(128) add_planes(const __grid_constant__ Product x, int segments, int groups) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  constexpr int batch = 8, vectors = own / 4;
  __shared__ float2 parts[most_segments][32];
  launch_dependents();
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int group = warp / segments, segment = warp - group * segments;
  const unsigned index = (blockIdx.x * groups + group) * 32 + lane; // of a pair
  const int half = static_cast<int>(index % 2), thread = static_cast<int>(index / 2 % multiplying);
  const int vector = static_cast<int>(index / (2 * multiplying) % vectors);
  const TilePlace tile = x.order.place(index / (2 * multiplying * vectors));
  const ResultPlace in_tile = place_in_tile(thread);
  const Index row = tile.row * tile_lines + in_tile.row + half * 8;
  const Index column = tile.col * tile_lines + in_tile.col + vector * 8;
  const bool inside = row < x.whole.m && column < x.whole.n;
  const Planes& planes = x.planes;
  const int of_segment = x.pieces.segment_planes(), first = segment * of_segment;
  const int count = min(of_segment, planes.count - first);
  wait_for_kernel_before();
  float2 carried{};
  if (inside) {
    const float* sums = planes.sums + first * planes.size + Index{index} * 2;
    const float* row_factors = planes.row_factors + first * planes.rows + row;
    const float* column_factors = planes.column_factors + first * planes.columns + column;
    const auto next_plane = [&] {
      sums += planes.size;
      row_factors += planes.rows;
      column_factors += planes.columns;
    };
    const auto is_unfit = [&](float2 sum, float2& unfit) {
      if (wgmma::is_unfit(sum.x)) unfit.x = sum.x;
      if (wgmma::is_unfit(sum.y)) unfit.y = sum.y;
    };
    carried = *reinterpret_cast<const float2*>(sums);
    float2 unfit{};
    is_unfit(carried, unfit);
    next_plane();
#pragma unroll 1
    for (int left = count - 1; left > 0; left -= batch) {
      float2 next[batch], columns[batch];
      float rows[batch];
      bool exact = true;
#pragma unroll
      for (int p = 0; p < batch; ++p)
        if (p < left) {
          next[p] = *reinterpret_cast<const float2*>(sums);
          rows[p] = *row_factors;
          columns[p] = *reinterpret_cast<const float2*>(column_factors);
          next_plane();
        } else {
          next[p] = columns[p] = {0, 0};
          rows[p] = 1;
        }
#pragma unroll
      for (int p = 0; p < batch; ++p) {
        exact = exact && wgmma::is_exact(rows[p]);
        is_unfit(next[p], unfit);
      }
      const auto add = [&](auto add_chunk) {
#pragma unroll
        for (int p = 0; p < batch; ++p)
          if (p < left) {
            carried.x = add_chunk(carried.x, next[p].x, rows[p], columns[p].x);
            carried.y = add_chunk(carried.y, next[p].y, rows[p], columns[p].y);
          }
      };
      if (exact) [[likely]]
        add([](float carry, float sum, float r, float c) { return __fmaf_rn(sum * r, c, carry); });
      else
        add([](float carry, float sum, float r, float c) { return wgmma::add_with_factors(carry, sum, r, c); });
    }
    if (wgmma::is_unfit(unfit.x)) carried.x = unfit.x;
    if (wgmma::is_unfit(unfit.y)) carried.y = unfit.y;
  }
  if (segments > 1) {
    parts[warp][lane] = carried;
    __syncthreads();
  }
  if (segment > 0 || !inside) return;
  float old[2];
  if (x.whole.beta != 0 && !x.whole.epilogue.wanted) read_old(x, row, column, old);
  float total[2]{carried.x, carried.y};
  bool unfit[2]{wgmma::is_unfit(carried.x), wgmma::is_unfit(carried.y)};
  for (int s = 1; s < segments; ++s) {
    const float2 more = parts[warp + s][lane];
    total[0] = __fadd_rn(total[0], more.x);
    total[1] = __fadd_rn(total[1], more.y);
    unfit[0] = unfit[0] || wgmma::is_unfit(more.x);
    unfit[1] = unfit[1] || wgmma::is_unfit(more.y);
  }
#pragma unroll
  for (int e = 0; e < 2; ++e)
    if (unfit[e]) [[unlikely]]
      total[e] = __uint_as_float(wgmma::unfit_sum);
  store_two(x, row, column, total, old);
#endif
}

} // namespace tessera::cuda::block_split
