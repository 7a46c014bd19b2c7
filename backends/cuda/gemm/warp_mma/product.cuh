#pragma once

/// The kernel: C := alpha·op(A)·op(B) + beta·C by a warp's matrix instructions, which all cards from compute capability
/// 8.0 on have. A block computes a tile of C: producer warps copy stages of both operands ahead of the consumer warps'
/// products. A segment of k is one chain of instructions. A block has all segments and adds their sums in registers;
/// or, from compute capability 9.0 on, the blocks of a cluster have one each, and the first block adds them. Source:
/// NVIDIA CUTLASS for the scheme.

#include "consumer_warp.cuh"
#include "cuda/gemm/common/ceil_div.hpp"
#include "cuda/gemm/common/cluster_send.cuh"
#include "cuda/gemm/common/programmatic_launch.cuh"

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

/// Adds up the sums of a cluster's blocks, of which each has one segment, in the first block. Returns false in the
/// others. `received` is memory of the first block.
template <class Tile>
__device__ bool add_parts(int parts, int part, WarpSums<Tile>& sums, char* received, [[maybe_unused]] void* arrivals) {
#if __CUDA_ARCH__ >= 900
  auto& counted = *static_cast<Arrivals*>(arrivals);
  const auto of = [&](int p, int fragment) {
    return received + (p - 1) * Tile::sum_bytes + (fragment * Tile::consumers + static_cast<int>(threadIdx.x)) * 16;
  };
  if (part > 0) {
    const unsigned barrier = place_in(0, &counted.barrier);
    sums.each_fragment([&](const float(&x)[4], int fragment) {
      send(place_in(0, of(part, fragment)), float4{x[0], x[1], x[2], x[3]}, barrier);
    });
    return false;
  }
  counted.wait();
  for (int p = 1; p < parts; ++p)
    sums.each_fragment([&](float(&x)[4], int fragment) {
      const auto more = *reinterpret_cast<const float4*>(of(p, fragment));
      x[0] = __fadd_rn(x[0], more.x);
      x[1] = __fadd_rn(x[1], more.y);
      x[2] = __fadd_rn(x[2], more.z);
      x[3] = __fadd_rn(x[3], more.w);
    });
#endif
  return true;
}

/// Copies the stages of both operands.
template <class T, class Tile, Along a_along, Along b_along, Lines lines>
__device__ void produce(const Product& x, const Work& work, unsigned shared, Barriers<Tile::most_stages> barriers) {
  constexpr int groups = Tile::producers / Tile::copiers;
  const int thread = static_cast<int>(threadIdx.x) - Tile::consumers;
  const int group = thread / Tile::copiers, of_group = thread % Tile::copiers;
  const Index begin = work.begin + group * Tile::panels * (depth_bytes / sizeof(T));
  PanelCopies<T, Tile::side, Tile::copiers, a_along, lines> a(x.a, work.row, begin, of_group);
  PanelCopies<T, Tile::side, Tile::copiers, b_along, lines> b(x.b, work.column, begin, of_group);
  Ring<Tile::most_stages> ring{group};
  const auto advance = [&] {
#pragma unroll
    for (int g = 0; g < groups; ++g) ring.advance(x.stages);
  };
  wait_for_kernel_before();
#pragma unroll 1
  for (int left = work.panels - group * Tile::panels; left > 0; left -= groups * Tile::panels, advance()) {
    barriers.wait_until_empty(ring);
    const unsigned to = shared + ring.stage * Tile::stage_bytes(lines);
#pragma unroll
    for (int panel = 0; panel < Tile::panels; ++panel) {
      if (panel > 0 && panel >= left) break; // k has ended
      a.start(to + panel * Tile::panel_bytes(lines));
      b.start(to + panel * Tile::panel_bytes(lines) + Tile::operand_bytes(lines));
      a.advance(1);
      b.advance(1);
    }
    a.advance((groups - 1) * Tile::panels);
    b.advance((groups - 1) * Tile::panels);
    barriers.fill_by_copies(ring);
  }
}

#endif

/// `T`: the operands' type; float stands for tf32, of which the units take the first 19 bits.
template <class T, class Tile, Along a_along, Along b_along>
__global__ void __launch_bounds__(Tile::threads, Tile::resident) product(const __grid_constant__ Product x) {
#if __CUDA_ARCH__ >= 800
  extern __shared__ __align__(128) char shared[];
  __shared__ typename Barriers<Tile::most_stages>::Memory of_barriers;
  const auto parts = static_cast<unsigned>(x.parts), part = blockIdx.x % parts;
#if __CUDA_ARCH__ >= 900
  __shared__ Arrivals arrivals;
  if (parts > 1) {
    if (part == 0 && threadIdx.x == 0) arrivals.start((x.parts - 1) * Tile::sum_bytes);
    ::cuda::ptx::barrier_cluster_arrive(::cuda::ptx::sem_relaxed);
  }
  // The first block counts arrivals before another block sends.
  const auto wait_for_cluster = [&] {
    if (parts > 1) ::cuda::ptx::barrier_cluster_wait();
  };
#else
  char arrivals;
  const auto wait_for_cluster = [] {};
#endif
  const Barriers<Tile::most_stages> barriers(of_barriers);
  if (threadIdx.x == 0) Barriers<Tile::most_stages>::start(of_barriers, Tile::copiers, Tile::consumers / 32);
  const TilePlace tile = x.order.place(blockIdx.x / parts);
  constexpr Index depth = depth_bytes / sizeof(T);
  const Index begin = part * x.segment, left = x.k - begin;
  const Index here = parts > 1 && x.segment < left ? x.segment : left;
  const Work work{tile.row * Tile::side, tile.col * Tile::side, begin, static_cast<int>(ceil_div(here, depth))};
  const unsigned address = address_of(shared);
  launch_dependents();
  __syncthreads(); // the barriers are there
  const auto with_lines = [&](auto f) {
    if constexpr (sizeof(T) == 4 && Tile::takes_shifted)
      if (!x.a.vectors || !x.b.vectors) return f.template operator()<Lines::Shifted>();
    f.template operator()<Lines::Aligned>();
  };
  if (threadIdx.x >= Tile::consumers) {
    with_lines([&]<Lines lines>() { produce<T, Tile, a_along, b_along, lines>(x, work, address, barriers); });
    wait_for_cluster();
    return;
  }
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int row = warp / Tile::across * Tile::rows, column = warp % Tile::across * Tile::columns;
  WarpSums<Tile> total;
  total.set(-0.0f); // to which the first segment is added without a change
  wait_for_kernel_before();
  with_lines([&]<Lines lines>() {
    ConsumerWarp<T, Tile, a_along, b_along, lines> consumer(x, work, address, barriers, row, column, lane);
    consumer.add_products(work.panels, static_cast<int>(x.segment / depth), total);
  });
  wait_for_cluster();
  if (parts > 1 && !add_parts(x.parts, static_cast<int>(part), total, shared + x.sums_at, &arrivals)) return;
  if constexpr (sizeof(T) == 2) {
    if (x.narrow) return store<T>(x, work.row + row, work.column + column, total, lane);
  }
  store<float>(x, work.row + row, work.column + column, total, lane);
#endif
}

} // namespace tessera::cuda::warp_mma
