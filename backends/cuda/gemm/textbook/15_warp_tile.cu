/// warp_tile: tiles of block, warp and thread, whose sizes suit the register file; the operands of the next step are in
/// registers before the step begins.
///
/// In f32 a block computes 128×128 results, a warp 32×64 and a thread 8×8: four 128-bit shared reads serve 64 FMAs, all
/// without bank conflicts. Tiles are double-buffered in shared memory by way of registers, and the operands of step p +
/// 1 are read while step p computes. A thread tile of 16×8 would read less, but it fills the registers and leaves half
/// as many warps: it is slower in f32, and faster in f64, which uses it (docs/lab/cuda_gemm.md). One result costs 2·k
/// operations and reads 2·k/128 elements from global memory (k/16 bytes in f32; k/128 + k/64 elements in f64). The
/// sources are the kernel walkthrough and CUTLASS, which has this shape.

#include <tessera/backend/traffic.hpp>

#include "cuda/device/status.hpp"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/warp_tile.cuh"
#include "cuda/gemm/ladder.hpp"
#include "cuda/queue/stream.hpp"

namespace tessera::cuda {
namespace {

constexpr int block_k = 8;

template <class S, Along a_along, Along b_along>
__global__ void __launch_bounds__(S::threads, 2) warp_tile(VectorOperands<typename S::Element> x) {
  using T = typename S::Element;
  __shared__ alignas(16) T a_tile[2][block_k][S::a_ld];
  __shared__ alignas(16) T b_tile[2][block_k][S::b_ld];
  const TileOrigin origin = tile_origin(x, S::block_m, S::block_n);
  const int thread = static_cast<int>(threadIdx.x);
  const warp_tiling::Position<S> at(thread);
  TileLoader<T, S::block_m, block_k, S::threads, a_along> a(slice_a(x, a_along, origin.row), thread);
  TileLoader<T, S::block_n, block_k, S::threads, b_along> b(slice_b(x, b_along, origin.col), thread);
  warp_tiling::Sums<S> sums;
  typename decltype(sums)::Totals totals(x.k);
  warp_tiling::Fragments<S> fragments[2];

  a.fetch(0);
  b.fetch(0);
  a.store(a_tile[0]);
  b.store(b_tile[0]);
  __syncthreads();
  fragments[0].load(&a_tile[0][0][at.row], &b_tile[0][0][at.col]);
  int current = 0;
  for (Index k0 = 0; k0 < x.k; k0 += block_k, current ^= 1) {
    const bool more = k0 + block_k < x.k;
    if (more) {
      a.fetch(k0 + block_k);
      b.fetch(k0 + block_k);
    }
    sums.begin(k0, totals);
#pragma unroll
    for (int p = 0; p < block_k; ++p) {
      if (p + 1 < block_k) {
        fragments[(p + 1) % 2].load(&a_tile[current][p + 1][at.row], &b_tile[current][p + 1][at.col]);
      } else if (more) {
        a.store(a_tile[current ^ 1]);
        b.store(b_tile[current ^ 1]);
        __syncthreads();
        fragments[0].load(&a_tile[current ^ 1][0][at.row], &b_tile[current ^ 1][0][at.col]);
      }
      sums.extend(fragments[p % 2].a, fragments[p % 2].b);
    }
  }
  sums.finish(x.k, totals);
  warp_tiling::store<S>(x, origin.row + at.row, origin.col + at.col, sums, totals);
}

template <class S>
Status run(const GemmKernel& kernel, Executor&, Queue& queue, const GemmCall& call) noexcept {
  const VectorOperands<typename S::Element> x(call);
  with_layouts(call, [&](auto a, auto b) {
    warp_tile<S, a.value, b.value><<<tile_count(call, S::block_m, S::block_n), S::threads, 0, stream_of(queue)>>>(x);
  });
  return launched(kernel.name);
}

template <class T>
using Tiles = std::conditional_t<sizeof(T) == 8, warp_tiling::Wide<T>, warp_tiling::Narrow<T>>;

template <class T>
constexpr GemmKernel rung{.name = "warp_tile",
                          .summary = "block, warp and thread tiles; operands double-buffered in registers",
                          .source = "kernel walkthrough; CUTLASS",
                          .type = dtype_of<T>,
                          .tile = {Tiles<T>::block_m, Tiles<T>::block_n, block_k},
                          .summation = Summation::Canonical,
                          .run = run<Tiles<T>>,
                          .epilogue = true,
                          .narrows = sizeof(T) == 4,
                          .traffic = tile_traffic};

} // namespace

const GemmKernel warp_tile_f32 = rung<float>;
const GemmKernel warp_tile_f64 = rung<double>;

} // namespace tessera::cuda
