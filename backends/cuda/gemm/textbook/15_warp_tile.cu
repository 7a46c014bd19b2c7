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

#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/warp_tile.cuh"
#include "cuda/gemm/textbook/rung.hpp"
#include "cuda/gemm/textbook/tile_lines.cuh"

namespace tessera::cuda {
namespace {

constexpr int tile_k = 8;

/// The tiles of a block, of a warp and of a thread. A warp's lanes are 4 down and 8 across, and a thread's rows and
/// columns come in vectors, lane after lane: eight lanes read 128 contiguous bytes of B and one vector of A together.
template <class T>
struct Tiles {
  using Element = T;
  static constexpr int width = Vector<T>::width, width_m = width; ///< elements of a vector of 16 bytes
  static constexpr int vectors_m = sizeof(T) == 4 ? 2 : 4;        ///< vectors of rows of a thread
  static constexpr int vectors_n = sizeof(T) == 4 ? 2 : 4;        ///< vectors of columns of a thread
  static constexpr int rows = vectors_m * width, cols = vectors_n * width;
  static constexpr int lanes_m = 4, lanes_n = 8;
  static constexpr int warp_m = lanes_m * rows, warp_n = lanes_n * cols;
  static constexpr int warps_m = sizeof(T) == 4 ? 4 : 2, warps_n = 2;
  static constexpr int block_m = warps_m * warp_m, block_n = warps_n * warp_n;
  static constexpr int threads = 32 * warps_m * warps_n;
  static constexpr int a_ld = padded<T>(block_m), b_ld = padded<T>(block_n);
};

/// Copies tiles of an operand from global to shared memory in vectors of 128 bits, by way of registers. In shared
/// memory a tile is [k][outer]: an operand that is stored along k (A, Bᵀ) is transposed as it is written.
template <class T, int outer, Along along>
struct TileLoader : TileLines<T, outer, tile_k, Tiles<T>::threads, along> {
  using Lines = TileLines<T, outer, tile_k, Tiles<T>::threads, along>;
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

/// The operands of a thread for one step of k: its rows of A and its columns of B.
template <class T>
struct Fragments {
  using S = Tiles<T>;
  T a[S::rows], b[S::cols];

  /// Reads them from one line of each tile. The lines start at the thread's position.
  __device__ void load(const T* a_line, const T* b_line) {
#pragma unroll
    for (int v = 0; v < S::vectors_m; ++v)
      load_fragment<T, S::width>(a_line + v * S::lanes_m * S::width, a + v * S::width);
#pragma unroll
    for (int v = 0; v < S::vectors_n; ++v)
      load_fragment<T, S::width>(b_line + v * S::lanes_n * S::width, b + v * S::width);
  }
};

template <class T, Along a_along, Along b_along>
__global__ void __launch_bounds__(Tiles<T>::threads, 2) warp_tile(VectorOperands<T> x) {
  using S = Tiles<T>;
  __shared__ alignas(16) T a_tile[2][tile_k][S::a_ld];
  __shared__ alignas(16) T b_tile[2][tile_k][S::b_ld];
  const TileOrigin origin = tile_origin(x, S::block_m, S::block_n);
  const int thread = static_cast<int>(threadIdx.x);
  const Place warp = row_order(thread / 32, S::warps_n);
  const Place lane = row_order(thread % 32, S::lanes_n);
  const int row = warp.down * S::warp_m + lane.down * S::width;
  const int col = warp.across * S::warp_n + lane.across * S::width;
  TileLoader<T, S::block_m, a_along> a(slice_a(x, a_along, origin.row), thread);
  TileLoader<T, S::block_n, b_along> b(slice_b(x, b_along, origin.col), thread);
  CanonicalTile<T, S::rows, S::cols> sums;
  typename decltype(sums)::Totals totals(x.k);
  Fragments<T> fragments[2]; // of this step and of the next one

  a.fetch(0);
  b.fetch(0);
  a.store(a_tile[0]);
  b.store(b_tile[0]);
  __syncthreads();
  fragments[0].load(&a_tile[0][0][row], &b_tile[0][0][col]);
  int current = 0;
  for (Index k0 = 0; k0 < x.k; k0 += tile_k, current ^= 1) {
    const bool more = k0 + tile_k < x.k;
    if (more) {
      a.fetch(k0 + tile_k);
      b.fetch(k0 + tile_k);
    }
    sums.begin(k0, totals);
#pragma unroll
    for (int p = 0; p < tile_k; ++p) {
      if (p + 1 < tile_k) {
        fragments[(p + 1) % 2].load(&a_tile[current][p + 1][row], &b_tile[current][p + 1][col]);
      } else if (more) {
        a.store(a_tile[current ^ 1]);
        b.store(b_tile[current ^ 1]);
        __syncthreads();
        fragments[0].load(&a_tile[current ^ 1][0][row], &b_tile[current ^ 1][0][col]);
      }
#pragma unroll
      for (int r = 0; r < S::rows; ++r)
#pragma unroll
        for (int s = 0; s < S::cols; ++s)
          sums.at(r, s) = fused(fragments[p % 2].a[r], fragments[p % 2].b[s], sums.at(r, s));
    }
  }
  sums.finish(x.k, totals);
  warp_tiling::store<S>(x, origin.row + row, origin.col + col, sums, totals);
}

template <class T>
void launch(const GemmCall& call, cudaStream_t stream) {
  using S = Tiles<T>;
  const VectorOperands<T> x(call);
  with_layouts(call, [&](auto a, auto b) {
    warp_tile<T, a.value, b.value><<<tile_count(call, S::block_m, S::block_n), S::threads, 0, stream>>>(x);
  });
}

template <class T>
constexpr GemmKernel rung{.name = "warp_tile",
                          .summary = "block, warp and thread tiles; operands double-buffered in registers",
                          .source = "kernel walkthrough; CUTLASS",
                          .type = dtype_of<T>,
                          .tile = {Tiles<T>::block_m, Tiles<T>::block_n, tile_k},
                          .summation = Summation::Canonical,
                          .run = run_launch<launch<T>>,
                          .epilogue = true,
                          .narrows = sizeof(T) == 4,
                          .traffic = tile_traffic};

} // namespace

const GemmKernel warp_tile_f32 = rung<float>;
const GemmKernel warp_tile_f64 = rung<double>;

} // namespace tessera::cuda
