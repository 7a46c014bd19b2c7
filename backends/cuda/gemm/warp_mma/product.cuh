#pragma once

/// The kernel: C := alpha·op(A)·op(B) + beta·C by a warp's matrix instructions, which all cards from compute capability
/// 8.0 on have. A block computes a tile of C: producer warps copy stages of both operands ahead of the consumer warps'
/// products. A segment of k is one chain of instructions. A block has all segments and adds their sums in registers;
/// or, from compute capability 9.0 on, the blocks of a cluster have one each, and the first block adds them. Source:
/// NVIDIA CUTLASS for the scheme.

#include "consumer_warp.cuh"

namespace tessera::cuda::warp_mma {

#if __CUDA_ARCH__ >= 800

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
__global__ void __launch_bounds__(Tile::threads, Tile::resident) product(const __grid_constant__ Product x) {
#if __CUDA_ARCH__ >= 800
  extern __shared__ __align__(128) char shared[];
  const bool aligned = min(x.a.aligned, x.b.aligned) == panel_ring::vector_bytes;
  const auto with_lines = [&](auto f) {
    if constexpr (sizeof(T) == 4 && Tile::takes_any_lines)
      if (!aligned) return f.template operator()<Lines::Shifted>();
    f.template operator()<Lines::Aligned>();
  };
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int row = warp / Tile::across * Tile::rows, column = warp % Tile::across * Tile::columns;
  const bool realigns = sizeof(T) == 2 && Tile::takes_any_lines && !aligned;
  panel_ring::run_block<Tile, WarpSums<Tile>>(
      x, shared, realigns ? Tile::realigners / 32 : Tile::copiers,
      [&](const Work& work, unsigned address, const auto& barriers) {
        with_lines([&]<Lines lines>() {
          using A = PanelLayout<T, Tile::side, a_along, lines>;
          using B = PanelLayout<T, Tile::side, b_along, lines>;
          constexpr int a_bytes = Tile::operand_bytes(lines), bytes = Tile::panel_bytes(lines);
          if constexpr (sizeof(T) == 2 && Tile::takes_any_lines)
            if (realigns) return panel_ring::produce_realigned<Tile, A, B, a_bytes, bytes>(x, work, address, barriers);
          panel_ring::produce<Tile, A, B, a_bytes, bytes>(x, work, address, barriers);
        });
      },
      [&](const Work& work, unsigned address, const auto& barriers, WarpSums<Tile>& total) {
        constexpr Index depth = depth_bytes / sizeof(T);
        with_lines([&]<Lines lines>() {
          ConsumerWarp<T, Tile, a_along, b_along, lines> consumer(x, work, address, barriers, row, column, lane);
          consumer.add_products(static_cast<int>(ceil_div(work.k, depth)), static_cast<int>(x.segment / depth), total);
        });
      },
      [&](const Work& work, WarpSums<Tile>& total) {
        if constexpr (sizeof(T) == 2) {
          if (x.narrow) return store<T>(x, work.row + row, work.column + column, total, lane);
        }
        store<float>(x, work.row + row, work.column + column, total, lane);
      });
#endif
}

} // namespace tessera::cuda::warp_mma
