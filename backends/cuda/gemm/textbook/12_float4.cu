/// float4: 128-bit loads from global and shared memory; A is transposed as it is stored, so that its parts are vectors.
///
/// A quarter of the load instructions, and the room they leave goes to FMAs: 4 shared reads a thread for 64. The price
/// is bank conflicts: A's transposing stores fall two to a bank, and so do the reads of B, whose vectors lie 32 bytes
/// apart. 2·m·n·k operations, 2·m·n·k/128 elements read (f64: /64). SGEMM repository; kernel walkthrough.

#include <tessera/backend/traffic.hpp>

#include "cuda/device/status.hpp"
#include "cuda/gemm/ladder.hpp"
#include "cuda/queue/stream.hpp"

#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/tile_loader.cuh"

namespace tessera::cuda {
namespace {

constexpr int threads_across = 16;
constexpr int threads = threads_across * threads_across;
constexpr int tile_k = 8;
template <class T>
constexpr int side = 32 / sizeof(T); ///< results a thread along each side
template <class T>
constexpr int tile = threads_across* side<T>;

template <class T, Along a_along, Along b_along>
__global__ void __launch_bounds__(threads, 2) float4(VectorOperands<T> x) {
  __shared__ alignas(16) T a_tile[tile_k][tile<T>];
  __shared__ alignas(16) T b_tile[tile_k][tile<T>];
  const TileOrigin origin = tile_origin(x, tile<T>, tile<T>);
  const int thread = static_cast<int>(threadIdx.x);
  const Place at = row_order(thread, threads_across);
  const int row = at.down * side<T>;
  const int col = at.across * side<T>;
  TileLoader<T, tile<T>, tile_k, threads, a_along> a(slice_a(x, a_along, origin.row), thread);
  TileLoader<T, tile<T>, tile_k, threads, b_along> b(slice_b(x, b_along, origin.col), thread);
  CanonicalTile<T, side<T>, side<T>> sums;
  typename decltype(sums)::Totals totals(x.k);

  for (Index k0 = 0; k0 < x.k; k0 += tile_k) {
    a.fetch(k0);
    b.fetch(k0);
    __syncthreads(); // the tile before this one has been used
    a.store(a_tile);
    b.store(b_tile);
    __syncthreads();
    sums.begin(k0, totals);
#pragma unroll
    for (int p = 0; p < tile_k; ++p) {
      T a_part[side<T>], b_part[side<T>];
      load_fragment<T, side<T>>(&a_tile[p][row], a_part);
      load_fragment<T, side<T>>(&b_tile[p][col], b_part);
      sums.extend(a_part, b_part);
    }
  }
  sums.finish(x.k, totals);
  store_tile(x, origin.row + row, origin.col + col, sums);
}

template <class T>
Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept {
  const VectorOperands<T> x(call);
  with_layouts(call, [&](auto a, auto b) {
    float4<T, a.value, b.value><<<tile_count(call, tile<T>, tile<T>), threads, 0, stream_of(queue)>>>(x);
  });
  return launched("float4");
}

template <class T>
constexpr GemmKernel row{.name = "float4",
                         .summary = "128-bit loads everywhere, A transposed on its way to shared memory",
                         .source = "SGEMM repository",
                         .type = dtype_of<T>,
                         .tile = {tile<T>, tile<T>, tile_k},
                         .summation = Summation::Canonical,
                         .run = run<T>,
                         .traffic = tile_traffic};

} // namespace

const GemmKernel float4_f32 = row<float>;
const GemmKernel float4_f64 = row<double>;

} // namespace tessera::cuda
