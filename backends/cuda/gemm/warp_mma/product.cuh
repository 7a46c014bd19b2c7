#pragma once

/// The kernel: C := alpha·op(A)·op(B) + beta·C by a warp's matrix instructions, which all GPUs from compute capability
/// 8.0 on have. A block computes a tile of C: producer warps copy stages of both operands ahead of the consumer warps'
/// products. A segment of k is one chain of instructions. A block has all segments and adds their sums in registers;
/// or, from compute capability 9.0 on, the blocks of a cluster have one each, and the first block adds them. Source:
/// NVIDIA CUTLASS for the scheme.

#include "consumer_warp.cuh"
#include "cuda/gemm/common/stores/prefetch_lines.cuh"
#include "cuda/gemm/common/stores/results.cuh"

namespace tessera::cuda::warp_mma {

#if __CUDA_ARCH__ >= 800

/// Where a lane's sums lie in C. `down`, `across`: the lane has neighbouring rows or columns of a fragment's operand
/// (FragmentPlace::in_pairs).
struct PlaceOfSums {
  Index row, column; ///< of the warp
  bool down, across;
  int lane;

  __device__ Index row_of(int i, int half) const {
    return row + i * 16 + (down ? lane / 4 * 2 + half : lane / 4 + half * 8);
  }
  /// Returns the column of the first one of two neighbours.
  __device__ Index column_of(int pair) const {
    return column + (across ? pair / 2 * 16 + lane % 4 * 4 + pair % 2 * 2 : pair * 8 + lane % 4 * 2);
  }
};

/// Neighbours in C, which one instruction stores.
template <class R>
struct alignas(2 * sizeof(R)) Two {
  R first, second;
};

/// Stores a warp's sums. R is C's type.
template <class R, class Tile>
__device__ void store(const Product& x, const PlaceOfSums& place, WarpSums<Tile>& sums) {
  if (x.epilogue.wanted) [[unlikely]] {
    float held[Tile::fragments_m * Tile::fragments_n * 4]; // in local memory, because the loop is not unrolled
    sums.each_pair(place.across, [&](int i, int half, int pair, float first, float second) {
      const int at = (i * 2 + half) * Tile::fragments_n + pair;
      held[at * 2] = first;
      held[at * 2 + 1] = second;
    });
#pragma unroll 1
    for (int v = 0; v < Tile::fragments_m * Tile::fragments_n * 2; ++v) {
      const int half = v / Tile::fragments_n;
      const float two[1][2]{{held[v * 2], held[v * 2 + 1]}};
      x.epilogue.store(
          [&](int) -> ResultPlace {
            return {place.row_of(half / 2, half % 2), place.column_of(v % Tile::fragments_n)};
          },
          two);
    }
    return;
  }
  const bool in_twos = x.to.ldc % 2 == 0 && reinterpret_cast<std::uintptr_t>(x.to.c) % (2 * sizeof(R)) == 0;
  const auto at = [&](Index row, Index column) { return static_cast<R*>(x.to.c) + row * x.to.ldc + column; };
  // All old results are read before the first is used, because a lane would wait for each read.
  Two<R> old[Tile::fragments_m * 2][Tile::fragments_n];
  if (x.to.beta != 0)
    sums.each_pair(place.across, [&](int i, int half, int pair, float, float) {
      const Index row = place.row_of(i, half), column = place.column_of(pair);
      if (row >= x.m || column >= x.n) return;
      Two<R>& two = old[i * 2 + half][pair];
      const R* const from = at(row, column);
      if (in_twos && column + 1 < x.n) {
        two = *reinterpret_cast<const Two<R>*>(from);
        return;
      }
      two.first = from[0];
      if (column + 1 < x.n) two.second = from[1];
    });
  sums.each_pair(place.across, [&](int i, int half, int pair, float first, float second) {
    const Index row = place.row_of(i, half), column = place.column_of(pair);
    if (row >= x.m || column >= x.n) return;
    const Two<R>& before = old[i * 2 + half][pair];
    const Two<R> two{rounded_result<R>(first, x.to.alpha, x.to.beta, before.first),
                     rounded_result<R>(second, x.to.alpha, x.to.beta, before.second)};
    R* const to = at(row, column);
    if (in_twos && column + 1 < x.n) {
      *reinterpret_cast<Two<R>*>(to) = two;
      return;
    }
    to[0] = two.first;
    if (column + 1 < x.n) to[1] = two.second;
  });
}

#endif

/// `T`: the operands' type; float stands for tf32, of which the matrix units take the first 19 bits.
template <class T, class Tile, Along a_along, Along b_along>
__global__ void __launch_bounds__(Tile::threads, Tile::resident) product(const __grid_constant__ Product x) {
#if __CUDA_ARCH__ >= 800
  extern __shared__ __align__(128) char shared[];
  const bool a_aligned = x.a.aligned == panel_ring::vector_bytes, b_aligned = x.b.aligned == panel_ring::vector_bytes;
  constexpr Lines aligned = Lines::Aligned, shifted = Lines::Shifted;
  const auto with_lines = [&](auto f) {
    if constexpr (sizeof(T) == 4 && Tile::takes_any_lines) {
      if (!a_aligned && !b_aligned) return f.template operator()<shifted, shifted>();
      if (!a_aligned) return f.template operator()<shifted, aligned>();
      if (!b_aligned) return f.template operator()<aligned, shifted>();
    }
    f.template operator()<aligned, aligned>();
  };
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int row = warp / Tile::across * Tile::rows, column = warp % Tile::across * Tile::columns;
  const bool realigns = sizeof(T) == 2 && Tile::takes_any_lines && !(a_aligned && b_aligned);
  panel_ring::run_block<Tile, WarpSums<Tile>>(
      x, shared, realigns ? Tile::realigners / 32 : Tile::copiers,
      [&](const Work& work, unsigned address, const auto& barriers) {
        with_lines([&]<Lines a_lines, Lines b_lines>() {
          using A = PanelLayout<T, Tile::side, a_along, a_lines>;
          using B = PanelLayout<T, Tile::side, b_along, b_lines>;
          constexpr int a_bytes = Tile::operand_bytes(a_lines), bytes = Tile::panel_bytes(a_lines, b_lines);
          if constexpr (sizeof(T) == 2 && Tile::takes_any_lines)
            if (realigns) return panel_ring::produce_realigned<Tile, A, B, a_bytes, bytes>(x, work, address, barriers);
          panel_ring::produce<Tile, A, B, a_bytes, bytes>(x, work, address, barriers);
        });
      },
      [&](const Work& work, unsigned address, const auto& barriers, WarpSums<Tile>& total) {
        constexpr Index depth = depth_bytes / sizeof(T);
        if (x.to.beta != 0 && work.begin == 0) { // the block that stores
          const Index first = work.row + row, element = x.narrow ? 2 : 4;
          prefetch_lines(static_cast<const char*>(x.to.c) + (first * x.to.ldc + work.column + column) * element,
                         x.to.ldc * element, static_cast<int>(min(x.m - first, Index{Tile::rows})),
                         static_cast<int>(min(x.n - work.column - column, Index{Tile::columns}) * element), lane, 32);
        }
        with_lines([&]<Lines a_lines, Lines b_lines>() {
          ConsumerWarp<T, Tile, a_along, b_along, a_lines, b_lines> consumer(x, work, address, barriers, row, column,
                                                                             lane);
          consumer.add_products(static_cast<int>(ceil_div(work.k, depth)), static_cast<int>(x.segment / depth), total);
        });
      },
      [&](const Work& work, WarpSums<Tile>& total) {
        const PlaceOfSums place{work.row + row, work.column + column,
                                sizeof(T) == 4 && a_along == Along::Outer && (a_aligned || !Tile::takes_any_lines),
                                sizeof(T) == 4 && b_along == Along::Outer && (b_aligned || !Tile::takes_any_lines),
                                lane};
        if constexpr (sizeof(T) == 2) {
          if (x.narrow) return store<T>(x, place, total);
        }
        store<float>(x, place, total);
      });
#endif
}

} // namespace tessera::cuda::warp_mma
