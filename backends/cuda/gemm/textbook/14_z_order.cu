/// z_order: the threads of a warp are laid out along a Z-curve, so that reads of shared memory have no bank conflicts
/// either.
///
/// With lanes row by row, eight lanes read eight fragments of B, 32 bytes apart, and hit each of their banks twice.
/// Along the Z-curve (lane bits x y x y x), any eight consecutive lanes form a rectangle of 4×2 threads. They read four
/// fragments of B, which lie in different banks, and two fragments of A, which do too; the other reads are broadcasts.
/// The padding of 13_conflict_free.cu stays. One result costs 2·k operations and reads 2·k/128 elements from global
/// memory (k/16 bytes in f32), as in 11_float4.cu. The source is the SGEMM repository.

#include <tessera/backend/traffic.hpp>

#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/textbook/rung.hpp"
#include "cuda/gemm/textbook/tile_lines.cuh"

namespace tessera::cuda {
namespace {

constexpr int threads = 256;
constexpr int tile_k = 8;
template <class T>
constexpr int side = 32 / sizeof(T); ///< results of one thread along each side
template <class T>
constexpr int tile = 16 * side<T>;
template <class T>
constexpr int ld = padded<T>(tile<T>);

/// Copies tiles of an operand from global to shared memory in vectors of 128 bits, by way of registers. In shared
/// memory a tile is [k][outer]: an operand that is stored along k (A, Bᵀ) is transposed as it is written.
template <class T, int outer, Along along>
struct TileLoader : TileLines<T, outer, tile_k, threads, along> {
  using Lines = TileLines<T, outer, tile_k, threads, along>;
  using Lines::Lines;
  Vector<T> staged[Lines::count]; ///< on their way

  /// Reads this thread's vectors of the tile that starts at step k0. Calls come in ascending order of k0.
  __device__ void fetch(Index k0) {
    if (this->vectors && k0 + tile_k <= this->k) {
#pragma unroll
      for (int v = 0; v < Lines::count; ++v) staged[v] = *reinterpret_cast<const Vector<T>*>(this->vector(v));
    } else {
      this->read_edge(k0, staged);
    }
    this->go_to_next_tile();
  }

  /// Writes them to shared memory.
  template <int ld>
  __device__ void store(T (&tile)[tile_k][ld]) const {
#pragma unroll
    for (int v = 0; v < Lines::count; ++v)
      if constexpr (along == Along::Outer)
        *reinterpret_cast<Vector<T>*>(&tile[this->down + v * Lines::step][this->across]) = staged[v];
      else
#pragma unroll
        for (int e = 0; e < Lines::width; ++e) tile[this->across + e][this->down + v * Lines::step] = staged[v].lane[e];
  }
};

template <class T, Along a_along, Along b_along>
__global__ void __launch_bounds__(threads, 2) z_order(VectorOperands<T> x) {
  __shared__ alignas(16) T a_tile[2][tile_k][ld<T>];
  __shared__ alignas(16) T b_tile[2][tile_k][ld<T>];
  const TileOrigin origin = tile_origin(x, tile<T>, tile<T>);
  const int thread = static_cast<int>(threadIdx.x);
  const Place warp = row_order(thread / 32, 2); // eight warps: four down, two across
  const Place lane = z_curve(thread % 32);
  const int row = (warp.down * 4 + lane.down) * side<T>;
  const int col = (warp.across * 8 + lane.across) * side<T>;
  TileLoader<T, tile<T>, a_along> a(slice_a(x, a_along, origin.row), thread);
  TileLoader<T, tile<T>, b_along> b(slice_b(x, b_along, origin.col), thread);
  CanonicalTile<T, side<T>, side<T>> sums;
  typename decltype(sums)::Totals totals(x.k);

  a.fetch(0);
  b.fetch(0);
  a.store(a_tile[0]);
  b.store(b_tile[0]);
  __syncthreads();
  int current = 0;
  for (Index k0 = 0; k0 < x.k; k0 += tile_k) {
    const bool more = k0 + tile_k < x.k;
    if (more) {
      a.fetch(k0 + tile_k);
      b.fetch(k0 + tile_k);
    }
    sums.begin(k0, totals);
#pragma unroll
    for (int p = 0; p < tile_k; ++p) {
      T a_fragment[side<T>], b_fragment[side<T>];
      load_fragment<T, side<T>>(&a_tile[current][p][row], a_fragment);
      load_fragment<T, side<T>>(&b_tile[current][p][col], b_fragment);
#pragma unroll
      for (int r = 0; r < side<T>; ++r)
#pragma unroll
        for (int s = 0; s < side<T>; ++s) sums.at(r, s) = fused(a_fragment[r], b_fragment[s], sums.at(r, s));
    }
    current ^= 1;
    if (more) {
      a.store(a_tile[current]);
      b.store(b_tile[current]);
      __syncthreads();
    }
  }
  sums.finish(x.k, totals);
  store_tile(x, origin.row + row, origin.col + col, sums);
}

template <class T>
void launch(const GemmCall& call, cudaStream_t stream) {
  const VectorOperands<T> x(call);
  with_layouts(call, [&](auto a, auto b) {
    z_order<T, a.value, b.value><<<tile_count(call, tile<T>, tile<T>), threads, 0, stream>>>(x);
  });
}

template <class T>
constexpr GemmKernel rung{.name = "z_order",
                          .summary = "conflict_free with a warp's threads in Z-order: loads without conflicts too",
                          .source = "SGEMM repository",
                          .type = dtype_of<T>,
                          .tile = {tile<T>, tile<T>, tile_k},
                          .summation = Summation::Canonical,
                          .run = run_launch<launch<T>>,
                          .traffic = tile_traffic};

} // namespace

const GemmKernel z_order_f32 = rung<float>;
const GemmKernel z_order_f64 = rung<double>;

} // namespace tessera::cuda
