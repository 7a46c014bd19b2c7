#pragma once

/// The kernel: C := alpha·op(A)·op(B) + beta·C with strict sums, for products of few results. A block computes a
/// tile of C: producer warps copy stages of both operands ahead of the consumer warps' FMAs. A segment of k is one
/// chain of FMAs. A block has all segments and adds their sums in registers; or, from compute capability 9.0 on, the
/// blocks of a cluster have one each, and the first block adds them in ascending order. Source: NVIDIA CUTLASS for the
/// scheme.

#include "consumer_warp.cuh"
#include "cuda/gemm/common/stores/prefetch_lines.cuh"
#include "cuda/gemm/common/stores/results.cuh"

namespace tessera::cuda::warp_fma {

#if __CUDA_ARCH__ >= 800

/// Stores a lane's sums, of its `rows` and `columns` of the tile that begins at C(row, column).
template <class T, class Tile, class Rows, class Columns>
__device__ void store(const StridedOperands<T>& x, Index row, Index column, const Rows& rows, const Columns& columns,
                      const LaneSums<T, Tile>& sums) {
  if (x.epilogue.wanted) [[unlikely]] {
    T held[Tile::lane_rows * Tile::lane_columns]; // in local memory, because the loop is not unrolled
#pragma unroll
    for (int e = 0; e < Tile::lane_rows * Tile::lane_columns; ++e) held[e] = sums.at[e];
#pragma unroll 1
    for (int e = 0; e < Tile::lane_rows * Tile::lane_columns; ++e) {
      const T one[1][1]{{held[e]}};
      x.epilogue.store(
          [&](int) -> ResultPlace {
            return {row + rows.row(e / Tile::lane_columns), column + columns.row(e % Tile::lane_columns)};
          },
          one);
    }
    return;
  }
  /// Calls f(the number of a result, its place in C) for the results that are in C.
  const auto each = [&](auto f) {
#pragma unroll
    for (int i = 0; i < Tile::lane_rows; ++i) {
      const Index in_c = row + rows.row(i);
      if (in_c >= x.m) continue;
#pragma unroll
      for (int j = 0; j < Tile::lane_columns; ++j)
        if (const Index col = column + columns.row(j); col < x.n)
          f(i * Tile::lane_columns + j, x.c + in_c * x.ldc + col);
    }
  };
  // All old results are read before the first is used, because a lane would wait for each read.
  T old[Tile::lane_rows * Tile::lane_columns];
  if (x.beta != T{0}) each([&](int e, const T* from) { old[e] = *from; });
  each([&](int e, T* to) { *to = strict_result(sums.at[e], x.alpha, x.beta, old[e]); });
}

#endif

template <class T, class Tile, Along a_along, Along b_along>
__global__ void __launch_bounds__(Tile::threads, Tile::resident) product(const __grid_constant__ Product<T> x) {
#if __CUDA_ARCH__ >= 800
  extern __shared__ __align__(128) char shared[];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  using A = PanelLayout<T, Tile::m, a_along, true>;
  using B = PanelLayout<T, Tile::n, b_along, false>;
  using Rows = LaneRows<A, Tile::lane_rows, 4>;
  using Columns = LaneRows<B, Tile::lane_columns, 8>;
  const Rows rows(warp / Tile::across * Tile::rows, z_curve(lane).down);
  const Columns columns(warp % Tile::across * Tile::columns, z_curve(lane).across);
  panel_ring::run_block<Tile, LaneSums<T, Tile>>(
      x, shared, Tile::copiers,
      [&](const Work& work, unsigned address, const auto& barriers) {
        panel_ring::produce<Tile, A, B, Tile::a_bytes, Tile::stage_bytes>(x, work, address, barriers);
      },
      [&](const Work& work, unsigned address, const auto& barriers, LaneSums<T, Tile>& total) {
        if (x.whole.beta != T{0} && work.begin == 0) { // the block that stores
          const Index row = work.row + warp / Tile::across * Tile::rows;
          const Index column = work.column + warp % Tile::across * Tile::columns;
          prefetch_lines(x.whole.c + row * x.whole.ldc + column, x.whole.ldc * Index{sizeof(T)},
                         static_cast<int>(min(x.whole.m - row, Index{Tile::rows})),
                         static_cast<int>(min(x.whole.n - column, Index{Tile::columns}) * Index{sizeof(T)}), lane, 32);
        }
        ConsumerWarp<T, Tile, Rows, Columns> consumer(x.stages, address, barriers, rows, columns, lane);
        consumer.add_products(static_cast<int>(ceil_div<Index>(work.k, depth)), static_cast<int>(x.segment / depth),
                              total);
      },
      [&](const Work& work, const LaneSums<T, Tile>& total) {
        store<T, Tile>(x.whole, work.row, work.column, rows, columns, total);
      });
#endif
}

} // namespace tessera::cuda::warp_fma
