/// segmented: async_copy with k cut into the contract's segments, for products with fewer tiles than multiprocessors.
///
/// A block multiplies one tile of C over one segment of k (1024 steps) and writes its sums; a second kernel adds the
/// sums of all segments in ascending order. The contract defines strict sums so that this changes no bit; splits of k
/// in other libraries change the result. One result costs 2·k operations, reads 2·k/128 elements from global memory
/// (k/16 bytes in f32; k/128 + k/64 elements in f64), and moves two more elements for each segment: its sum is written
/// and read. The source is split-K, for example in NVIDIA CUTLASS.

#include <tessera/executor.hpp>

#include "cuda/gemm/common/async_loader.cuh"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/programmatic_launch.cuh"
#include "cuda/gemm/common/segment_sums.cuh"
#include "cuda/gemm/common/traffic.hpp"
#include "cuda/gemm/common/warp_tile.cuh"
#include "cuda/gemm/textbook/rung.hpp"

namespace tessera::cuda {
namespace {

constexpr int tile_k = 8;
/// The number of stages that fit into the 48 KiB of shared memory that need no opt-in.
template <class T>
constexpr int stages = sizeof(T) == 4 ? 4 : 3;

/// The tiles of a block, of a warp and of a thread. A warp's lanes are 4 down and 8 across, and a thread's rows and
/// columns come in vectors, lane after lane: eight lanes read 128 contiguous bytes of B and one vector of A together.
template <class T>
struct Tiles {
  using Element = T;
  static constexpr int width = Vector<T>::width, width_m = width; ///< elements of a vector of 16 bytes
  static constexpr int vectors_m = 4;                             ///< vectors of rows of a thread
  static constexpr int vectors_n = sizeof(T) == 4 ? 2 : 4;        ///< vectors of columns of a thread
  static constexpr int rows = vectors_m * width, cols = vectors_n * width;
  static constexpr int lanes_m = 4, lanes_n = 8;
  static constexpr int warp_m = lanes_m * rows, warp_n = lanes_n * cols;
  static constexpr int warps_m = 2, warps_n = 2;
  static constexpr int block_m = warps_m * warp_m, block_n = warps_n * warp_n;
  static constexpr int threads = 32 * warps_m * warps_n;
  static constexpr int a_ld = padded<T>(block_m), b_ld = padded<T>(block_n);
};

/// cp.async: copies `bytes` bytes from global to shared memory, past the registers, while the thread goes on: 16, or an
/// element where the tile is transposed on its way. Before compute capability 8.0 it is a load and a store.
struct CopyAsync {
  template <int bytes>
  static __device__ void copy(void* to, const void* from) {
    __pipeline_memcpy_async(to, from, bytes);
  }
};
/// Makes one group of the copies that this thread has started since its last group.
__device__ inline void commit_copies() { __pipeline_commit(); }
/// Waits until at most `groups` groups of this thread are on their way. Other threads' copies need a barrier, too.
template <int groups>
__device__ void wait_for_copies() {
  __pipeline_wait_prior(groups);
}

/// The tiles of both operands, in several stages.
template <class T>
struct Stages {
  alignas(16) T a[stages<T>][tile_k][Tiles<T>::a_ld];
  alignas(16) T b[stages<T>][tile_k][Tiles<T>::b_ld];
};

/// Calls CopyAsync for each vector of a tile that is this thread's, and copies edges in single elements.
template <class T, int outer, Along along>
using TileLoader = AsyncTileLoader<T, outer, tile_k, Tiles<T>::threads, along, along == Along::K, CopyAsync>;

/// The first row and column of a thread in the block's tile.
template <class T>
struct Position {
  using S = Tiles<T>;
  int row, col;

  __device__ explicit Position(int thread) {
    const Place warp = row_order(thread / 32, S::warps_n);
    const Place lane = row_order(thread % 32, S::lanes_n);
    row = warp.down * S::warp_m + lane.down * S::width;
    col = warp.across * S::warp_n + lane.across * S::width;
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

/// Computes the tile of C at `origin`.
template <class T, Along a_along, Along b_along>
__device__ void multiply_tile(const VectorOperands<T>& x, const TileOrigin& origin, Stages<T>& shared) {
  using S = Tiles<T>;
  auto& a_tile = shared.a;
  auto& b_tile = shared.b;
  const int thread = static_cast<int>(threadIdx.x);
  const Position<T> at(thread);
  TileLoader<T, S::block_m, a_along> a(slice_a(x, a_along, origin.row), thread);
  TileLoader<T, S::block_n, b_along> b(slice_b(x, b_along, origin.col), thread);
  CanonicalTile<T, S::rows, S::cols> sums;
  typename decltype(sums)::Totals totals(x.k);
  Fragments<T> fragments[2]; // of this step and of the next one

  // A group without copies keeps the number of groups on their way constant until the end.
  const auto start = [&](Index k0, int stage) {
    if (k0 < x.k) {
      a.copy(k0, a_tile[stage]);
      b.copy(k0, b_tile[stage]);
    }
    commit_copies();
  };
#pragma unroll
  for (int stage = 0; stage + 1 < stages<T>; ++stage) start(stage * tile_k, stage);
  wait_for_copies<stages<T> - 2>();
  __syncthreads();
  fragments[0].load(&a_tile[0][0][at.row], &b_tile[0][0][at.col]);
  int current = 0;
  int free = stages<T> - 1; // the threads that read it last have passed the barrier
  for (Index k0 = 0; k0 < x.k; k0 += tile_k) {
    start(k0 + (stages<T> - 1) * tile_k, free);
    free = current;
    sums.begin(k0, totals);
#pragma unroll
    for (int p = 0; p < tile_k; ++p) {
      if (p + 1 < tile_k) {
        fragments[(p + 1) % 2].load(&a_tile[current][p + 1][at.row], &b_tile[current][p + 1][at.col]);
      } else {
        wait_for_copies<stages<T> - 2>();
        __syncthreads();
        current = current + 1 == stages<T> ? 0 : current + 1;
        fragments[0].load(&a_tile[current][0][at.row], &b_tile[current][0][at.col]);
      }
#pragma unroll
      for (int r = 0; r < S::rows; ++r)
#pragma unroll
        for (int s = 0; s < S::cols; ++s)
          sums.at(r, s) = fused(fragments[p % 2].a[r], fragments[p % 2].b[s], sums.at(r, s));
    }
  }
  sums.finish(x.k, totals);
  warp_tiling::store<S>(x, origin.row + at.row, origin.col + at.col, sums, totals);
}

constexpr Index most_segments = 65535; ///< the limit of a grid's second dimension

Index segments_of(const GemmCall& call) { return ceil_div(call.k, canonical_segment); }

/// Each block multiplies its tile of C over one segment of k, and its results are that segment's sums.
template <class T, Along a_along, Along b_along>
__global__ void __launch_bounds__(Tiles<T>::threads, 2) segmented(VectorOperands<T> x, T* sums) {
  using S = Tiles<T>;
  __shared__ Stages<T> shared;
  const VectorOperands<T> part = segment_of(x, blockIdx.y, sums);
  multiply_tile<T, a_along, b_along>(part, tile_origin(part, S::block_m, S::block_n), shared);
  launch_dependents();
}

template <class T>
const char* reject(const GemmKernel& kernel, const GemmCall& call, const Capabilities& machine) noexcept {
  if (call.k <= canonical_segment)
    return "k is one segment of 1024, which is not cut; use async_copy, or no kernel's name";
  if (segments_of(call) > most_segments)
    return "k has more than 65535 segments of 1024; use async_copy, or no kernel's name";
  if (ceil_div<Index>(call.m, kernel.tile.m) * ceil_div<Index>(call.n, kernel.tile.n) >= machine.multiprocessors)
    return "C has a tile for each multiprocessor, so that cutting k gains nothing; use async_copy, or no kernel's name";
  return nullptr;
}

template <class T>
Status run(const GemmKernel& kernel, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  using S = Tiles<T>;
  const cudaStream_t stream = stream_of(queue);
  const VectorOperands<T> x(call);
  const Index segments = segments_of(call);
  Scratch scratch;
  if (Status status = allocate_sums<T>(scratch, executor, queue, segments, x.m * x.n); !status.ok()) return status;
  const dim3 blocks(tile_count(call, S::block_m, S::block_n), static_cast<unsigned>(segments));
  with_layouts(call, [&](auto a, auto b) {
    segmented<T, a.value, b.value><<<blocks, S::threads, 0, stream>>>(x, scratch.as<T>());
  });
  if (Status status = launched(kernel.name); !status.ok()) return status;
  return launch_add_segments<T>(stream, {.sums = scratch.as<T>(), .segments = segments, .epilogue = x.epilogue},
                                kernel.name, executor.capabilities().compute_major == 9);
}

template <class T>
constexpr GemmKernel rung{.name = "segmented",
                          .summary = "async_copy with a block for each tile and segment of k",
                          .source = "CUTLASS's split-K",
                          .type = dtype_of<T>,
                          .tile = {Tiles<T>::block_m, Tiles<T>::block_n, tile_k},
                          .summation = Summation::Canonical,
                          .reject = reject<T>,
                          .run = run<T>,
                          .epilogue = true,
                          .narrows = sizeof(T) == 4,
                          .traffic = segments_traffic};

} // namespace

const GemmKernel segmented_f32 = rung<float>;
const GemmKernel segmented_f64 = rung<double>;

} // namespace tessera::cuda
