/// wmma_fp16, wmma_bf16: tensor cores through the warp matrix API, on 16-bit operands as they are. Products are exact
/// and sums are f32.
///
/// A block of eight warps computes 128×128 results, a warp 64×32 of them as 4×2 fragments of 16×16. Tiles of 32 steps
/// of k go to shared memory in vectors of eight elements, or in single ones where an operand is not aligned or ends.
/// They are stored as they lie in memory: the layout of a fragment does the transposes. There is one tile of each
/// operand, so loads and products take turns; t1_wmma_tf32.cu overlaps them. One result costs 2·k operations and reads
/// 2·k/128 elements from global memory (k/32 bytes). fp16 needs compute capability 7.0, bf16 8.0. The sources are the
/// kernel walkthrough (its sixth level) and the CUDA C++ Programming Guide, "Warp Matrix Functions".

#include <mma.h>

#include <tessera/backend/traffic.hpp>
#include <tessera/executor.hpp>

#include "cuda/device/status.hpp"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/tile_loader.cuh"
#include "cuda/gemm/ladder.hpp"
#include "cuda/queue/stream.hpp"

namespace tessera::cuda {
namespace {

constexpr int side = 16;       ///< rows, columns and steps of k of a fragment
constexpr int fragments_m = 4; ///< fragments of a warp's tile, down and across
constexpr int fragments_n = 2;
constexpr int block_tile = 128;
constexpr int block_k = 32;
constexpr int warps_across = block_tile / (side * fragments_n);
constexpr int warps = block_tile / (side * fragments_m) * warps_across;
constexpr int threads = warps * 32;
constexpr int width = 8; ///< elements of a vector of 16 bytes

/// An operand, line by line as it is stored.
template <class T>
struct Lines {
  const T* data;
  Index ld;
  Index outer; ///< rows of op(A) or columns of op(B)
  bool vectors;
};

template <class T, class R>
struct Params {
  Index m, n, k;
  Lines<T> a, b;
  ScaledResult<float, R> to;
};

/// A tile, laid out as its operand is in memory. A line is padded by one vector, which spreads a fragment's lines over
/// the banks.
template <class T, Along along>
struct alignas(32) StoredTile {
  static constexpr int lines = along == Along::K ? block_tile : block_k;
  static constexpr int length = along == Along::K ? block_k : block_tile;
  static constexpr int ld = length + width;
  T at[lines][ld];

  /// Returns the first element of the fragment at row (of A) or column (of B) `outer` and step p.
  __device__ const T* fragment(int outer, int p) const { return along == Along::K ? &at[outer][p] : &at[p][outer]; }

  /// Copies the tile whose first row or column is `first` and whose first step is k0, with zeros beyond the edges.
  __device__ void load(const Lines<T>& x, Index first, Index k0, Index k) {
    const Index first_line = along == Along::K ? first : k0, last_line = along == Along::K ? x.outer : k;
    const Index from = along == Along::K ? k0 : first, end = along == Along::K ? k : x.outer;
    constexpr int across = length / width;
    for (int v = static_cast<int>(threadIdx.x); v < lines * across; v += threads) {
      const int line = v / across, column = v % across * width;
      const Index left = first_line + line < last_line ? end - from - column : 0;
      const T* const source = x.data + (first_line + line) * x.ld + from + column;
      if (x.vectors && left >= width)
        *reinterpret_cast<uint4*>(&at[line][column]) = *reinterpret_cast<const uint4*>(source);
      else
#pragma unroll
        for (int e = 0; e < width; ++e) at[line][column + e] = e < left ? source[e] : Rounding<T>::round(0.0f);
    }
  }
};

template <class T, Along a_along, Along b_along>
union Shared {
  struct {
    StoredTile<T, a_along> a;
    StoredTile<T, b_along> b;
  } tiles;
  float results[warps][side][side + 4];
};

/// The least __CUDA_ARCH__ whose tensor cores take T.
template <class T>
constexpr int needed_architecture = std::is_same_v<T, __half> ? 700 : 800;

/// A warp's sums, and the products that are added to them.
template <class T, Along a_along, Along b_along>
struct WarpTile {
  using ALayout = std::conditional_t<a_along == Along::K, nvcuda::wmma::row_major, nvcuda::wmma::col_major>;
  using BLayout = std::conditional_t<b_along == Along::K, nvcuda::wmma::col_major, nvcuda::wmma::row_major>;
  nvcuda::wmma::fragment<nvcuda::wmma::accumulator, side, side, side, float> sums[fragments_m][fragments_n];

  __device__ void clear() {
#pragma unroll
    for (auto& across : sums)
#pragma unroll
      for (auto& sum : across) nvcuda::wmma::fill_fragment(sum, 0.0f);
  }

  /// Adds the products of the tiles' rows from `row` on and columns from `col` on.
  __device__ void add(const StoredTile<T, a_along>& a, const StoredTile<T, b_along>& b, int row, int col) {
#pragma unroll
    for (int p = 0; p < block_k; p += side) {
      nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, side, side, side, T, ALayout> a_fragment[fragments_m];
      nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, side, side, side, T, BLayout> b_fragment[fragments_n];
#pragma unroll
      for (int f = 0; f < fragments_m; ++f)
        nvcuda::wmma::load_matrix_sync(a_fragment[f], a.fragment(row + f * side, p), a.ld);
#pragma unroll
      for (int f = 0; f < fragments_n; ++f)
        nvcuda::wmma::load_matrix_sync(b_fragment[f], b.fragment(col + f * side, p), b.ld);
#pragma unroll
      for (int i = 0; i < fragments_m; ++i)
#pragma unroll
        for (int j = 0; j < fragments_n; ++j)
          nvcuda::wmma::mma_sync(sums[i][j], a_fragment[i], b_fragment[j], sums[i][j]);
    }
  }
};

template <class T, class R, Along a_along, Along b_along>
__global__ void __launch_bounds__(threads) wmma_16_bit(Params<T, R> x) {
#if defined(__CUDA_ARCH__)
  if constexpr (__CUDA_ARCH__ >= needed_architecture<T>) { // earlier devices are rejected
    __shared__ Shared<T, a_along, b_along> shared;
    const auto across = static_cast<unsigned>(ceil_div<Index>(x.n, block_tile));
    const Index first_row = static_cast<Index>(blockIdx.x / across) * block_tile;
    const Index first_col = static_cast<Index>(blockIdx.x % across) * block_tile;
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int row = warp / warps_across * (side * fragments_m), col = warp % warps_across * (side * fragments_n);
    WarpTile<T, a_along, b_along> warp_tile;
    warp_tile.clear();
    for (Index k0 = 0; k0 < x.k; k0 += block_k) {
      shared.tiles.a.load(x.a, first_row, k0, x.k);
      shared.tiles.b.load(x.b, first_col, k0, x.k);
      __syncthreads();
      warp_tile.add(shared.tiles.a, shared.tiles.b, row, col);
      __syncthreads(); // all warps have used the tiles
    }
    // The API does not say which elements a lane holds, so results go through shared memory, 16×16 a warp at a time.
    auto& staging = shared.results[warp];
#pragma unroll
    for (int i = 0; i < fragments_m; ++i)
#pragma unroll
      for (int j = 0; j < fragments_n; ++j) {
        nvcuda::wmma::store_matrix_sync(&staging[0][0], warp_tile.sums[i][j], side + 4, nvcuda::wmma::mem_row_major);
        __syncwarp();
        for (int e = lane; e < side * side; e += 32) {
          const Index at_row = first_row + row + i * side + e / side, at_col = first_col + col + j * side + e % side;
          if (at_row < x.m && at_col < x.n)
            store_rounded(x.to.c + at_row * x.to.ldc + at_col, staging[e / side][e % side], x.to.alpha, x.to.beta);
        }
        __syncwarp();
      }
  }
#endif
}

template <class T>
Lines<T> lines_of(const void* data, Index ld, Index outer) {
  const bool vectors = reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && ld % width == 0;
  return {static_cast<const T*>(data), ld, outer, vectors};
}

template <class T, class R>
Status launch(const GemmKernel& kernel, Queue& queue, const GemmCall& call) noexcept {
  const Params<T, R> x{call.m,
                       call.n,
                       call.k,
                       lines_of<T>(call.a, call.lda, call.m),
                       lines_of<T>(call.b, call.ldb, call.n),
                       ScaledResult<float, R>::of(call)};
  with_layouts(call, [&](auto a, auto b) {
    wmma_16_bit<T, R, a.value, b.value><<<tile_count(call, block_tile, block_tile), threads, 0, stream_of(queue)>>>(x);
  });
  return launched(kernel.name);
}

template <class T>
Status run(const GemmKernel& kernel, Executor&, Queue& queue, const GemmCall& call) noexcept {
  return call.result == DType::F32 ? launch<T, float>(kernel, queue, call) : launch<T, T>(kernel, queue, call);
}

const char* reject_before_volta(const GemmKernel&, const GemmCall&, const Capabilities& machine) noexcept {
  return machine.compute_major >= 7 ? nullptr
                                    : "fp16 tensor cores need compute capability 7.0 or higher; use math mode strict";
}
const char* reject_before_ampere(const GemmKernel&, const GemmCall&, const Capabilities& machine) noexcept {
  return machine.compute_major >= 8 ? nullptr
                                    : "bf16 tensor cores need compute capability 8.0 or higher; use math mode strict";
}

} // namespace

const GemmKernel wmma_fp16_f16{.name = "wmma_fp16",
                               .summary = "tensor cores through the warp matrix API, fp16 operands",
                               .source = "kernel walkthrough",
                               .type = DType::F16,
                               .math = Math::Fp16,
                               .tile = {block_tile, block_tile, block_k},
                               .accumulator = Accumulator::Truncating,
                               .reject = reject_before_volta,
                               .run = run<__half>,
                               .traffic = tile_traffic};
const GemmKernel wmma_bf16_bf16{.name = "wmma_bf16",
                                .summary = "tensor cores through the warp matrix API, bf16 operands",
                                .source = "kernel walkthrough",
                                .type = DType::BF16,
                                .math = Math::Bf16,
                                .tile = {block_tile, block_tile, block_k},
                                .accumulator = Accumulator::Truncating,
                                .reject = reject_before_ampere,
                                .run = run<__nv_bfloat16>,
                                .traffic = tile_traffic};

} // namespace tessera::cuda
