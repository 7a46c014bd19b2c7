#pragma once

/// The kernel: C := alpha·op(A)·op(B) + beta·C by a warp's matrix instructions, which all cards from compute capability
/// 8.0 on have. A block computes a tile of C; copies that bypass registers (cp.async) bring three stages of both
/// operands ahead of the products. A segment of k is one chain of instructions, and the sums of segments are added in
/// registers. Source: NVIDIA CUTLASS for the scheme.

#include "cuda/gemm/common/ceil_div.hpp"
#include "cuda/gemm/common/raster_order.hpp"
#include "stages.cuh"

namespace tessera::cuda::warp_mma {

struct Product {
  Index m, n, k;
  Index segment; ///< k of each segment but the last one
  AlignedLines a, b;
  void* c;
  Index ldc;
  float alpha, beta;
  bool narrow; ///< C has the operands' type, not f32
  RasterOrder order;
  EpilogueStore<float> epilogue;
};

/// A block's tile: its sides, and the warps down and across that share it.
template <int side_, int down_, int across_>
struct BlockTile {
  static constexpr int side = side_, down = down_, across = across_;
  static constexpr int threads = down * across * 32;
  static constexpr int rows = side / down, columns = side / across; ///< of a warp
  static constexpr int fragments_m = rows / 16, fragments_n = columns / 8;
  static constexpr int stages = 3;
  static constexpr std::size_t bytes = std::size_t{2} * stages * side * line_bytes;
};
using Large = BlockTile<128, 2, 4>;
using Small = BlockTile<64, 2, 2>;

#if __CUDA_ARCH__ >= 800

/// A warp's sums: in each fragment a lane has two neighbours of row lane / 4, and two of the row 8 below it.
template <class Tile>
struct WarpSums {
  float at[Tile::fragments_m][Tile::fragments_n][4];

  __device__ void clear() {
    each([](float& x) { x = 0; });
  }
  /// Calls f for each sum.
  template <class F>
  __device__ void each(F f) {
#pragma unroll
    for (auto& across : at)
#pragma unroll
      for (auto& fragment : across)
#pragma unroll
        for (float& x : fragment) f(x);
  }
  /// Adds the earlier segments' sums.
  __device__ void add_to(const WarpSums& earlier) {
#pragma unroll
    for (int i = 0; i < Tile::fragments_m; ++i)
#pragma unroll
      for (int j = 0; j < Tile::fragments_n; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) at[i][j][e] = __fadd_rn(earlier.at[i][j][e], at[i][j][e]);
  }
  /// Adds the products of a stage; the warp's part begins at `row` and `column` of the tile.
  template <class T, Along a_along, Along b_along>
  __device__ void add_stage(unsigned a, unsigned b, int row, int column, int lane) {
#pragma unroll
    for (int step = 0; step < line_bytes / 32; ++step) {
      unsigned left[Tile::fragments_m][4], right[Tile::fragments_n / 2][4];
#pragma unroll
      for (int i = 0; i < Tile::fragments_m; ++i) read_fragment<T, a_along>(a, row + i * 16, step, lane, left[i]);
#pragma unroll
      for (int j = 0; j < Tile::fragments_n / 2; ++j)
        read_fragment<T, b_along>(b, column + j * 16, step, lane, right[j]);
#pragma unroll
      for (int i = 0; i < Tile::fragments_m; ++i)
#pragma unroll
        for (int j = 0; j < Tile::fragments_n; ++j)
          multiply_in_warp<T>(at[i][j], left[i][0], left[i][1], left[i][2], left[i][3], right[j / 2][j % 2],
                              right[j / 2][j % 2 + 2]);
    }
  }
};

/// Stores a warp's sums, of which the first one is C(row, column). R is C's type.
template <class R, class Tile>
__device__ void store(const Product& x, Index row, Index column, WarpSums<Tile>& sums, int lane) {
  row += lane / 4;
  column += lane % 4 * 2;
  if (x.epilogue.wanted) [[unlikely]] {
    float held[Tile::fragments_m * Tile::fragments_n * 4]; // in local memory, because the loop is not unrolled
    int next = 0;
    sums.each([&](float sum) { held[next++] = sum; });
#pragma unroll 1
    for (int v = 0; v < Tile::fragments_m * Tile::fragments_n * 2; ++v) {
      const int fragment = v / 2, half = v % 2;
      const float two[1][2]{{held[v * 2], held[v * 2 + 1]}};
      x.epilogue.store(
          [&](int) -> ResultPlace {
            return {row + fragment / Tile::fragments_n * 16 + half * 8, column + fragment % Tile::fragments_n * 8};
          },
          two);
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < Tile::fragments_m; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Index in_c = row + i * 16 + half * 8;
      if (in_c >= x.m) continue;
      R* const to = static_cast<R*>(x.c) + in_c * x.ldc;
#pragma unroll
      for (int j = 0; j < Tile::fragments_n; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e)
          if (const Index col = column + j * 8 + e; col < x.n)
            store_rounded(to + col, sums.at[i][j][half * 2 + e], x.alpha, x.beta);
    }
}

#endif

/// `T`: the operands' type; float stands for tf32, of which the units take the first 19 bits.
template <class T, class Tile, Along a_along, Along b_along>
__global__ void __launch_bounds__(Tile::threads, 1) product(const __grid_constant__ Product x) {
#if __CUDA_ARCH__ >= 800
  constexpr int stages = Tile::stages;
  constexpr Index depth = line_bytes / sizeof(T);
  extern __shared__ __align__(128) char shared[];
  const auto first_stage = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  using A = OperandStages<T, Tile::side, Tile::threads, a_along>;
  using B = OperandStages<T, Tile::side, Tile::threads, b_along>;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int row = warp / Tile::across * Tile::rows, column = warp % Tile::across * Tile::columns;
  const TilePlace tile = x.order.place(blockIdx.x);
  const A a(x.a, tile.row * Tile::side);
  const B b(x.b, tile.col * Tile::side);
  const auto place_of = [&](int stage) { return first_stage + stage * (A::bytes + B::bytes); };
  // A commit without copies keeps the number of stages in flight constant until the end.
  const auto start = [&](Index k, int stage) {
    if (k < x.k) {
      a.start(k, place_of(stage));
      b.start(k, place_of(stage) + A::bytes);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
#pragma unroll
  for (int stage = 0; stage + 1 < stages; ++stage) start(stage * depth, stage);
  WarpSums<Tile> sums, earlier;
  int current = 0, free = stages - 1;
  Index k = 0;
  while (true) {
    const Index end = k + x.segment < x.k ? k + x.segment : x.k;
    const bool first = k == 0;
    sums.clear();
    for (; k < end; k += depth) {
      asm volatile("cp.async.wait_group %0;" ::"n"(stages - 2) : "memory");
      __syncthreads(); // the stage is there, and all warps have used the one that is filled next
      start(k + (stages - 1) * depth, free);
      free = current;
      sums.template add_stage<T, a_along, b_along>(place_of(current), place_of(current) + A::bytes, row, column, lane);
      current = current + 1 == stages ? 0 : current + 1;
    }
    if (!first) sums.add_to(earlier);
    if (end == x.k) break;
    earlier = sums;
  }
  const Index at_row = tile.row * Tile::side + row, at_column = tile.col * Tile::side + column;
  if constexpr (sizeof(T) == 2) {
    if (x.narrow) return store<T>(x, at_row, at_column, sums, lane);
  }
  store<float>(x, at_row, at_column, sums, lane);
#endif
}

} // namespace tessera::cuda::warp_mma
