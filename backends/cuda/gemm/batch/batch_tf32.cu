/// Batches of f32 operands in the mode Tf32: a block computes 64×64 results of a product by the matrix instructions of
/// a warp, from operands at any address.
///
/// A warp has 32×32 results. Stages of 32 k lie in shared memory as they lie in memory, with lines that are so much
/// longer that what a warp reads at once lies in different banks. One result costs 2·k operations and reads 2·k/64
/// elements of 4 bytes. Sources: CUTLASS's tiles of mma.sync for TF32, and PTX ISA, "mma.m16n8k8 with .tf32".

#include <algorithm>

#include "batch_operands.cuh"
#include "cuda/device/shared_memory.hpp"
#include "cuda/device/status.hpp"
#include "cuda/gemm/common/async_loader.cuh"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/operands.cuh"
#include "cuda/gemm/common/warp_mma.cuh"
#include "tile_of_batch.cuh"

namespace tessera::cuda {
namespace {

constexpr int side = 64, block_k = 32, stages = 3, threads = 128;
[[maybe_unused]] constexpr int warp_side = 32, warps_across = side / warp_side;
[[maybe_unused]] constexpr int down = warp_side / 16, across = warp_side / 8; ///< a warp's instructions

/// A stage of an operand, laid out as it is in memory.
template <Along along>
struct alignas(16) StoredTile {
  static constexpr int lines = along == Along::K ? side : block_k;
  static constexpr int ld = along == Along::K ? block_k + 4 : side + 8;
  float at[lines][ld];

  /// Returns the bits of element `p` along k of row or column i.
  __device__ unsigned operator()(int i, int p) const {
    return __float_as_uint(along == Along::K ? at[i][p] : at[p][i]);
  }
};

template <Along a_along, Along b_along>
struct Stage {
  StoredTile<a_along> a;
  StoredTile<b_along> b;
};

constexpr std::size_t shared_bytes =
    stages * 2 * std::max(sizeof(StoredTile<Along::K>), sizeof(StoredTile<Along::Outer>));

#if __CUDA_ARCH__ >= 800

using Sums = float[down][across][4];

/// Where a warp's results lie in the block's tile, and a lane's among them.
struct Place {
  int row, col, lane;
  __device__ explicit Place(int thread)
      : row(thread / 32 / warps_across * warp_side), col(thread / 32 % warps_across * warp_side), lane(thread % 32) {}
  __device__ int g() const { return lane / 4; }
  __device__ int t() const { return lane % 4; }
};

__device__ inline unsigned address_of(const float& x) { return static_cast<unsigned>(__cvta_generic_to_shared(&x)); }

/// Reads 16 rows of op(A) from `row` on, and 8 k from `p` on, into the places of the instruction's registers.
template <Along along>
__device__ void read_a(const StoredTile<along>& a, int row, int p, const Place& place, unsigned (&to)[4]) {
  if constexpr (along == Along::K) {
    read_matrices<false>(address_of(a.at[row + place.lane % 16][p + place.lane / 16 * 4]), to);
  } else {
#pragma unroll
    for (int e = 0; e < 4; ++e) to[e] = a(row + place.g() + e % 2 * 8, p + place.t() + e / 2 * 4);
  }
}
/// Reads 16 columns of op(B) from `col` on, and 8 k: two registers of the left columns, then of the right ones.
template <Along along>
__device__ void read_b(const StoredTile<along>& b, int col, int p, const Place& place, unsigned (&to)[4]) {
  if constexpr (along == Along::K) {
    const int c = col + place.lane / 16 * 8 + place.lane % 8;
    read_matrices<false>(address_of(b.at[c][p + place.lane / 8 % 2 * 4]), to);
  } else {
#pragma unroll
    for (int e = 0; e < 4; ++e) to[e] = b(col + place.g() + e / 2 * 8, p + place.t() + e % 2 * 4);
  }
}

/// Adds the products of a stage to a warp's sums.
template <class S>
__device__ void add_stage(const S& stage, const Place& place, Sums& sums) {
#pragma unroll
  for (int p = 0; p < block_k; p += 8) {
    unsigned a[down][4], b[across / 2][4];
#pragma unroll
    for (int i = 0; i < down; ++i) read_a(stage.a, place.row + i * 16, p, place, a[i]);
#pragma unroll
    for (int j = 0; j < across / 2; ++j) read_b(stage.b, place.col + j * 16, p, place, b[j]);
#pragma unroll
    for (int i = 0; i < down; ++i)
#pragma unroll
      for (int j = 0; j < across; ++j)
        multiply_in_warp<float>(sums[i][j], a[i][0], a[i][1], a[i][2], a[i][3], b[j / 2][j % 2 * 2],
                                b[j / 2][j % 2 * 2 + 1]);
  }
}

/// Stores a lane's results through the epilogue; the first is C(row, col). It is not inlined, because few products have
/// one.
__device__ __noinline__ void store_with_epilogue(EpilogueStore<float> epilogue, const float* results, Index row,
                                                 Index col) {
#pragma unroll 1
  for (int e = 0; e < down * across * 4; ++e)
    epilogue.store(
        [&](int) -> ResultPlace {
          return {row + e / (across * 4) * 16 + e / 2 % 2 * 8, col + e / 4 % across * 8 + e % 2};
        },
        {{results[e]}});
}

/// Stores a lane's results, pair by pair.
__device__ inline void store_tile(const VectorOperands<float>& x, const TileOrigin& origin, const Place& place,
                                  const Sums& totals) {
  const Index row = origin.row + place.row + place.g(), col = origin.col + place.col + place.t() * 2;
  if (x.epilogue.wanted) [[unlikely]] {
    float results[down * across * 4];
#pragma unroll
    for (int e = 0; e < down * across * 4; ++e) results[e] = totals[e / (across * 4)][e / 4 % across][e % 4];
    store_with_epilogue(x.epilogue, results, row, col);
    return;
  }
  const bool in_twos = x.ldc % 2 == 0 && reinterpret_cast<std::uintptr_t>(x.c) % sizeof(float2) == 0;
#pragma unroll
  for (int i = 0; i < down; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Index r = row + i * 16 + half * 8;
      if (r >= x.m) return;
      float* const line = x.c + r * x.ldc;
#pragma unroll
      for (int j = 0; j < across; ++j) {
        const Index c = col + j * 8;
        const float first = totals[i][j][half * 2], second = totals[i][j][half * 2 + 1];
        if (in_twos && c + 1 < x.n) {
          auto* const to = reinterpret_cast<float2*>(line + c);
          float2 two = x.beta != 0 ? *to : float2{};
          store_rounded(&two.x, first, x.alpha, x.beta);
          store_rounded(&two.y, second, x.alpha, x.beta);
          *to = two;
        } else {
          if (c < x.n) store_rounded(line + c, first, x.alpha, x.beta);
          if (c + 1 < x.n) store_rounded(line + c + 1, second, x.alpha, x.beta);
        }
      }
    }
}

/// Computes the tile of C at `origin`. Segments of k have `segment` k, except for the last one.
template <Along a_along, Along b_along>
__device__ void multiply_tile(const VectorOperands<float>& x, Index segment, const TileOrigin& origin, void* shared) {
  auto* const stage = static_cast<Stage<a_along, b_along>*>(shared);
  const int thread = static_cast<int>(threadIdx.x);
  const Place place(thread);
  OperandSlice<float> of_a = slice_a(x, a_along, origin.row), of_b = slice_b(x, b_along, origin.col);
  of_a.padding = of_b.padding = 0.0f;
  AsyncTileLoader<float, side, block_k, threads, a_along, false> a(of_a, thread);
  AsyncTileLoader<float, side, block_k, threads, b_along, false> b(of_b, thread);
  const auto start = [&](Index k0, int to) { // a commit without copies keeps the number of stages in flight constant
    if (k0 < x.k) {
      a.copy(k0, stage[to].a.at);
      b.copy(k0, stage[to].b.at);
    }
    __pipeline_commit();
  };
#pragma unroll
  for (int s = 0; s + 1 < stages; ++s) start(s * block_k, s);
  Sums totals;
#pragma unroll
  for (auto& line : totals)
#pragma unroll
    for (auto& group : line)
#pragma unroll
      for (float& total : group) total = -0.0f; // to which the first segment is added without a change
  int current = 0;
  for (Index k0 = 0; k0 < x.k;) {
    Sums sums{};
    for (const Index end = min(k0 + segment, x.k); k0 < end; k0 += block_k) {
      __pipeline_wait_prior(stages - 2);
      __syncthreads(); // and all warps have used the stage that is copied next
      start(k0 + (stages - 1) * block_k, current == 0 ? stages - 1 : current - 1);
      add_stage(stage[current], place, sums);
      current = current + 1 == stages ? 0 : current + 1;
    }
#pragma unroll
    for (int i = 0; i < down; ++i)
#pragma unroll
      for (int j = 0; j < across; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) totals[i][j][e] = __fadd_rn(totals[i][j][e], sums[i][j][e]);
  }
  store_tile(x, origin, place, totals);
}

#endif

__global__ void __launch_bounds__(threads, 4) batch_tf32(const __grid_constant__ BatchGroups<float> groups) {
#if __CUDA_ARCH__ >= 800
  extern __shared__ float4 shared[];
  __shared__ FoundProduct<float, float> found;
  TileOfBatch<float, float> here;
  if (!find_tile<true>(groups, blockIdx.x, side, found, here)) return;
  const BatchGroup<float>& x = *here.group;
  const VectorOperands<float> y = operands_of(x, here.product);
  const TileOrigin origin{static_cast<Index>(here.tile / x.across) * side,
                          static_cast<Index>(here.tile % x.across) * side};
  const auto multiply = [&]<Along a, Along b>() { multiply_tile<a, b>(y, x.segment, origin, shared); };
  if (x.transpose_a)
    x.transpose_b ? multiply.template operator()<Along::Outer, Along::K>()
                  : multiply.template operator()<Along::Outer, Along::Outer>();
  else
    x.transpose_b ? multiply.template operator()<Along::K, Along::K>()
                  : multiply.template operator()<Along::K, Along::Outer>();
#endif
}

} // namespace

Status launch_tf32_batch(cudaStream_t stream, const BatchGroups<float>& groups) noexcept {
  static_assert(middle_tile<float>.m == side && middle_tile<float>.n == side);
  if (Status status = allow_most_shared(batch_tf32, "batch_tf32"); !status.ok()) return status;
  batch_tf32<<<groups.tiles, threads, shared_bytes, stream>>>(groups);
  return launched("batch_tf32");
}

} // namespace tessera::cuda
