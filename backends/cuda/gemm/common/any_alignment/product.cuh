#pragma once

/// 16-bit operands at any address, on matrix units: a block of eight warps computes 64×64 results, a warp 16×32 of
/// them, with the matrix instructions of a warp. Stages of 64 k go through registers, where lines at any address are
/// shifted into place, to two buffers in shared memory: the next stage is read while this one is multiplied. Operands
/// are stored as they lie in memory, and the reads of fragments transpose them.

#include "cuda/gemm/common/epilogue.cuh"
#include "cuda/gemm/common/operands.cuh"
#include "cuda/gemm/common/programmatic_launch.cuh"
#include "cuda/gemm/common/stores/prefetch_lines.cuh"
#include "cuda/gemm/common/stores/results.cuh"
#include "cuda/gemm/common/tile_loader.cuh"
#include "cuda/gemm/common/warp_mma.cuh"
#include "lines.cuh"
#include "plan.hpp"

namespace tessera::cuda::any_alignment {

constexpr int threads = 256;
constexpr int warp_rows = 16, warp_columns = 32;
constexpr int groups = warp_columns / 8; ///< a warp's matrix instructions across

struct Product {
  Index m, n, k;
  Index segment; ///< k of each segment but the last one
  Lines a, b;
  ScaledResult<float, void> to;
  bool narrow; ///< C has the operands' type, not f32
  EpilogueStore<float> epilogue;
};

/// A stage of an operand. A line is longer by one vector, which spreads a fragment's lines over the banks.
struct alignas(16) StoredTile {
  static_assert(tile_side == tile_depth); // lines along k and lines across are the same number, equally long
  std::uint16_t at[tile_side][tile_side + width];
};

union Shared {
  struct {
    StoredTile a, b;
  } stages[2];
  float results[tile_side][tile_side + 4];
};

#if __CUDA_ARCH__ >= 800

/// Copies stages of an operand, one after the other: a thread has the same place in two lines of each.
template <Along along>
class Copies {
  static constexpr int across = tile_side / width, step = threads / across, each = tile_side / step;

 public:
  /// Prepares copies of the tile whose first row (of op(A)) or column (of op(B)) is `first`, from k0 on.
  __device__ Copies(const Lines& x, int first, int k0)
      : x_(x),
        line_(along == Along::K ? first : k0),
        left_(x.length - (along == Along::K ? k0 : first) - column()),
        at_(x.data + (line_ + line()) * x.pitch + (x.length - left_) * 2) {}

  /// Starts to read a stage.
  __device__ void fetch() {
    inner_ = x_.are_inner(line_, tile_side);
    if (inner_)
      fetch<true>();
    else
      fetch<false>();
  }
  /// Writes the stage to shared memory, and goes on to the next one.
  __device__ void store(const EdgeChunks& edges, StoredTile& to) {
    if (inner_)
      store<true>(edges, to);
    else
      store<false>(edges, to);
    at_ += along == Along::K ? tile_depth * 2 : tile_depth * x_.pitch;
    left_ -= along == Along::K ? tile_depth : 0;
    line_ += along == Along::K ? 0 : tile_depth;
  }

 private:
  __device__ static int line() { return static_cast<int>(threadIdx.x) / across; }
  __device__ static int column() { return static_cast<int>(threadIdx.x) % across * width; }
  __device__ const char* at(int i) const { return at_ + i * step * x_.pitch; }
  /// Returns the elements that the operand has in line i from the thread's place on.
  template <bool inner>
  __device__ int left(int i) const {
    return inner || line_ + line() + i * step < x_.count ? left_ : 0;
  }
  template <bool inner>
  __device__ void fetch() {
#pragma unroll
    for (int i = 0; i < each; ++i) any_alignment::fetch<inner>(x_, at(i), left<inner>(i) > 0, fetched_[i]);
  }
  template <bool inner>
  __device__ void store(const EdgeChunks& edges, StoredTile& to) const {
#pragma unroll
    for (int i = 0; i < each; ++i)
      *reinterpret_cast<uint4*>(&to.at[line() + i * step][column()]) =
          vector_of<inner>(fetched_[i], edges, at(i), left<inner>(i));
  }

  const Lines& x_; ///< of the product
  int line_;       ///< the first line of the stage
  int left_;       ///< elements of a line from the thread's place on
  const char* at_; ///< the thread's place
  bool inner_ = false;
  Fetched fetched_[each] = {};
};

/// Returns the address of an element in shared memory.
__device__ inline unsigned address_of(const std::uint16_t& x) {
  return static_cast<unsigned>(__cvta_generic_to_shared(&x));
}

/// Reads 16 rows of op(A), from `row` on, and 16 k, from `p` on: the upper and the lower rows of the first 8 k, then of
/// the last.
template <Along along>
__device__ void read_a(const StoredTile& a, int row, int p, int lane, unsigned (&to)[4]) {
  const int r = row + lane / 8 % 2 * 8, q = p + lane / 16 * 8, line = lane % 8;
  if constexpr (along == Along::K)
    read_matrices<false>(address_of(a.at[r + line][q]), to);
  else
    read_matrices<true>(address_of(a.at[q + line][r]), to);
}
/// Reads 16 columns of op(B) and 16 k: the first and the last 8 k of the left columns, then of the right ones.
template <Along along>
__device__ void read_b(const StoredTile& b, int column, int p, int lane, unsigned (&to)[4]) {
  const int c = column + lane / 16 * 8, q = p + lane / 8 % 2 * 8, line = lane % 8;
  if constexpr (along == Along::K)
    read_matrices<false>(address_of(b.at[c + line][q]), to);
  else
    read_matrices<true>(address_of(b.at[q + line][c]), to);
}

/// Adds the products of a stage to a warp's sums.
template <class T, Along a_along, Along b_along>
__device__ void add_stage(const StoredTile& a, const StoredTile& b, int row, int column, int lane,
                          float (&sums)[groups][4]) {
#pragma unroll
  for (int p = 0; p < tile_depth; p += 16) {
    unsigned from_a[4];
    read_a<a_along>(a, row, p, lane, from_a);
#pragma unroll
    for (int g = 0; g < groups; g += 2) {
      unsigned from_b[4];
      read_b<b_along>(b, column + g * 8, p, lane, from_b);
      multiply_in_warp<T>(sums[g], from_a[0], from_a[1], from_a[2], from_a[3], from_b[0], from_b[1]);
      multiply_in_warp<T>(sums[g + 1], from_a[0], from_a[1], from_a[2], from_a[3], from_b[2], from_b[3]);
    }
  }
}

/// Writes a warp's sums to the block's results.
__device__ inline void put_sums(const float (&sums)[groups][4], int row, int column, int lane, Shared& shared) {
#pragma unroll
  for (int g = 0; g < groups; ++g)
#pragma unroll
    for (int half = 0; half < 2; ++half)
      *reinterpret_cast<float2*>(&shared.results[row + lane / 4 + half * 8][column + g * 8 + lane % 4 * 2]) =
          make_float2(sums[g][half * 2], sums[g][half * 2 + 1]);
}

/// Stores a thread's results of the tile whose first result is (first_row, first_column): of column `col`, from row
/// `first` on.
template <class R>
__device__ void store_column(const Product& x, Index first_row, Index first_column, int first, int col,
                             const Shared& shared) {
  constexpr int apart = threads / tile_side, each = tile_side / apart;
  const Index row = first_row + first, column = first_column + col;
  if (column >= x.n) return;
  R* const c = static_cast<R*>(x.to.c) + row * x.to.ldc + column;
  R old[each];
  if (x.to.beta != 0) {
#pragma unroll
    for (int i = 0; i < each; ++i)
      if (row + i * apart < x.m) old[i] = c[i * apart * x.to.ldc];
  }
#pragma unroll
  for (int i = 0; i < each; ++i)
    if (row + i * apart < x.m)
      c[i * apart * x.to.ldc] =
          rounded_result<R>(shared.results[first + i * apart][col], x.to.alpha, x.to.beta, old[i]);
}

/// What a block needs in shared memory.
struct Workspace {
  Shared shared;
  EdgeChunks a_edges, b_edges;
};

/// Computes the tile whose first result is (first_row, first_column).
template <class T, Along a_along, Along b_along>
__device__ void compute(const Product& x, int first_row, int first_column, Workspace& here) {
  Shared& shared = here.shared;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int row = warp / 2 * warp_rows, column = warp % 2 * warp_columns;
  const int stages = static_cast<int>(ceil_div<Index>(x.k, tile_depth));
  const int segment = static_cast<int>(x.segment) / tile_depth; // stages
  Copies<a_along> a(x.a, first_row, 0);
  Copies<b_along> b(x.b, first_column, 0);
  float total[groups][4];
#pragma unroll
  for (auto& group : total)
#pragma unroll
    for (float& t : group) t = -0.0f; // to which the first segment is added without a change
  if (x.to.beta != 0 && threadIdx.x >= 64 && threadIdx.x < 128) {
    const int element = x.narrow ? 2 : 4;
    prefetch_lines(static_cast<const char*>(x.to.c) + (first_row * x.to.ldc + first_column) * element,
                   x.to.ldc * element, static_cast<int>(min(x.m - first_row, Index{tile_side})),
                   static_cast<int>(min(x.n - first_column, Index{tile_side})) * element,
                   static_cast<int>(threadIdx.x) - 64, 64);
  }
  wait_for_kernel_before();
  a.fetch();
  b.fetch();
  here.a_edges.read(x.a, static_cast<int>(threadIdx.x));
  here.b_edges.read(x.b, static_cast<int>(threadIdx.x) - 32); // by another warp
  __syncthreads();
  for (int s = 0; s < stages;) {
    float sums[groups][4]{};
    for (const int end = min(s + segment, stages); s < end; ++s) {
      auto& stage = shared.stages[s % 2];
      a.store(here.a_edges, stage.a);
      b.store(here.b_edges, stage.b);
      __syncthreads(); // all warps have also used the other buffer
      if (s + 1 < stages) {
        a.fetch();
        b.fetch();
      }
      add_stage<T, a_along, b_along>(stage.a, stage.b, row, column, lane, sums);
    }
#pragma unroll
    for (int g = 0; g < groups; ++g)
#pragma unroll
      for (int e = 0; e < 4; ++e) total[g][e] = __fadd_rn(total[g][e], sums[g][e]);
  }
  __syncthreads();
  put_sums(total, row, column, lane, shared);
  __syncthreads();
  const int col = static_cast<int>(threadIdx.x) % tile_side, first = static_cast<int>(threadIdx.x) / tile_side;
  if (x.epilogue.wanted) [[unlikely]] {
    for (int r = first; r < tile_side; r += threads / tile_side)
      if (first_row + r < x.m && first_column + col < x.n)
        x.epilogue.store(
            [&](int) -> ResultPlace {
              return {first_row + r, first_column + col};
            },
            {{shared.results[r][col]}});
    return;
  }
  if (x.narrow)
    store_column<T>(x, first_row, first_column, first, col, shared);
  else
    store_column<float>(x, first_row, first_column, first, col, shared);
}

#endif

/// The kernel, of one block for each tile.
template <class T, Along a_along, Along b_along>
__global__ void __launch_bounds__(threads, 2) product(const __grid_constant__ Product x) {
#if __CUDA_ARCH__ >= 800
  __shared__ Workspace here;
  const auto across = static_cast<unsigned>(ceil_div<Index>(x.n, tile_side));
  launch_dependents();
  compute<T, a_along, b_along>(x, static_cast<int>(blockIdx.x / across) * tile_side,
                               static_cast<int>(blockIdx.x % across) * tile_side, here);
#endif
}

} // namespace tessera::cuda::any_alignment
