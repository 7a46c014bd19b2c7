/// wmma_tf32: tensor cores through the warp matrix API. Operands are rounded to tf32 (10 bits of mantissa), sums are
/// f32.
///
/// A warp holds 64×64 results as sixteen fragments of 16×16. A step of eight k loads eight operand fragments for
/// sixteen products of fragments. Tiles of 128×128×16 come by cp.async through four stages and are stored as they lie
/// in memory: the layout of a fragment does the transposes. One result costs 2·k operations and reads 2·k/128 elements
/// from global memory (k/16 bytes). The sources are the kernel walkthrough and the CUDA C++ Programming Guide, "Warp
/// Matrix Functions".

#include <mma.h>

#include <tessera/backend/traffic.hpp>
#include <tessera/executor.hpp>

#include "cuda/device/shared_memory.hpp"
#include "cuda/device/status.hpp"
#include "cuda/gemm/common/async_loader.cuh"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/ladder.hpp"
#include "cuda/queue/stream.hpp"

namespace tessera::cuda {
namespace {

constexpr int side = 16;     ///< rows and columns of a fragment of C
constexpr int depth = 8;     ///< steps of k of one product of fragments
constexpr int fragments = 4; ///< fragments along each side of a warp's tile
constexpr int warp_tile = side * fragments;
constexpr int block_tile = 2 * warp_tile;
constexpr int block_k = 16;
constexpr int threads = 4 * 32;
constexpr int stages = 4;
static_assert(block_k % depth == 0);

/// A tile, laid out as its operand is in memory. The padding spreads the 8×4 elements of a fragment over all banks.
template <Along along>
struct alignas(128) StoredTile {
  static constexpr int lines = along == Along::K ? block_tile : block_k;
  static constexpr int ld = along == Along::K ? block_k + 4 : block_tile + 8;
  float at[lines][ld];

  /// Returns the first element of the fragment at row (of A) or column (of B) `outer` and step p.
  __device__ const float* fragment(int outer, int p) const { return along == Along::K ? &at[outer][p] : &at[p][outer]; }
};

template <Along a_along, Along b_along>
struct Stage {
  StoredTile<a_along> a;
  StoredTile<b_along> b;
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
template <class Use, class Layout>
using Operand = nvcuda::wmma::fragment<Use, side, side, depth, nvcuda::wmma::precision::tf32, Layout>;

/// Loads a fragment from shared memory and rounds it to tf32. The load is the PTX of wmma::load_matrix_sync, because
/// the call itself compiles to generic loads with 64-bit addresses. Without the rounding the products would truncate.
/// `ld` is the number of elements from line to line.
template <class Use, class Layout>
__device__ void load_rounded(Operand<Use, Layout>& fragment, const float* from, unsigned ld) {
  constexpr bool is_a = std::is_same_v<Use, nvcuda::wmma::matrix_a>;
  constexpr bool by_row = std::is_same_v<Layout, nvcuda::wmma::row_major>;
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(from));
  unsigned bits[4];
  static_assert(fragment.num_elements == 4);
  if constexpr (is_a && by_row)
    asm volatile("wmma.load.a.sync.aligned.row.m16n16k8.shared.tf32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(bits[0]), "=r"(bits[1]), "=r"(bits[2]), "=r"(bits[3])
                 : "r"(address), "r"(ld)
                 : "memory");
  else if constexpr (is_a)
    asm volatile("wmma.load.a.sync.aligned.col.m16n16k8.shared.tf32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(bits[0]), "=r"(bits[1]), "=r"(bits[2]), "=r"(bits[3])
                 : "r"(address), "r"(ld)
                 : "memory");
  else if constexpr (by_row)
    asm volatile("wmma.load.b.sync.aligned.row.m16n16k8.shared.tf32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(bits[0]), "=r"(bits[1]), "=r"(bits[2]), "=r"(bits[3])
                 : "r"(address), "r"(ld)
                 : "memory");
  else
    asm volatile("wmma.load.b.sync.aligned.col.m16n16k8.shared.tf32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(bits[0]), "=r"(bits[1]), "=r"(bits[2]), "=r"(bits[3])
                 : "r"(address), "r"(ld)
                 : "memory");
#pragma unroll
  for (int e = 0; e < 4; ++e) fragment.x[e] = nvcuda::wmma::__float_to_tf32(__uint_as_float(bits[e]));
}
#endif

template <Along a_along, Along b_along>
__global__ void __launch_bounds__(threads, 2) wmma_tf32(VectorOperands<float> x) {
#if __CUDA_ARCH__ >= 800 // earlier devices are rejected
  using namespace nvcuda;
  using ALayout = std::conditional_t<a_along == Along::K, wmma::row_major, wmma::col_major>;
  using BLayout = std::conditional_t<b_along == Along::K, wmma::col_major, wmma::row_major>;

  extern __shared__ float4 shared[];
  auto* const stage = reinterpret_cast<Stage<a_along, b_along>*>(shared);
  const TileOrigin origin = tile_origin(x, block_tile, block_tile);
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32;
  const int row = warp / 2 * warp_tile;
  const int col = warp % 2 * warp_tile;
  AsyncTileLoader<float, block_tile, block_k, threads, a_along, false> a(slice_a(x, a_along, origin.row), thread);
  AsyncTileLoader<float, block_tile, block_k, threads, b_along, false> b(slice_b(x, b_along, origin.col), thread);
  wmma::fragment<wmma::accumulator, side, side, depth, float> sums[fragments][fragments];
#pragma unroll
  for (int i = 0; i < fragments; ++i)
#pragma unroll
    for (int j = 0; j < fragments; ++j) wmma::fill_fragment(sums[i][j], 0.0f);

  // A commit without copies keeps the number of stages in flight constant until the end.
  const auto start = [&](Index k0, int to) {
    if (k0 < x.k) {
      a.copy(k0, stage[to].a.at);
      b.copy(k0, stage[to].b.at);
    }
    __pipeline_commit();
  };
#pragma unroll
  for (int s = 0; s + 1 < stages; ++s) start(s * block_k, s);
  int current = 0;
  for (Index k0 = 0; k0 < x.k; k0 += block_k) {
    __pipeline_wait_prior(stages - 2);
    __syncthreads(); // this stage is full, and all threads have used the stage before it
    start(k0 + (stages - 1) * block_k, current == 0 ? stages - 1 : current - 1);
#pragma unroll
    for (int p = 0; p < block_k; p += depth) {
      Operand<wmma::matrix_a, ALayout> a_fragment[fragments];
      Operand<wmma::matrix_b, BLayout> b_fragment[fragments];
#pragma unroll
      for (int f = 0; f < fragments; ++f) {
        load_rounded<wmma::matrix_a, ALayout>(a_fragment[f], stage[current].a.fragment(row + f * side, p),
                                              StoredTile<a_along>::ld);
        load_rounded<wmma::matrix_b, BLayout>(b_fragment[f], stage[current].b.fragment(col + f * side, p),
                                              StoredTile<b_along>::ld);
      }
#pragma unroll
      for (int i = 0; i < fragments; ++i)
#pragma unroll
        for (int j = 0; j < fragments; ++j) wmma::mma_sync(sums[i][j], a_fragment[i], b_fragment[j], sums[i][j]);
    }
    current = current + 1 == stages ? 0 : current + 1;
  }

  // The API does not say which elements a lane holds, so results go through shared memory, 16×16 a warp at a time.
  __pipeline_wait_prior(0);
  __syncthreads();
  constexpr int staging_ld = side + 4;
  float* const staging = reinterpret_cast<float*>(shared) + warp * side * staging_ld;
  const int lane_row = thread % 32 / 2;
  const int lane_col = thread % 2 * 8;
#pragma unroll
  for (int i = 0; i < fragments; ++i)
#pragma unroll
    for (int j = 0; j < fragments; ++j) {
      wmma::store_matrix_sync(staging, sums[i][j], staging_ld, wmma::mem_row_major);
      __syncwarp();
#pragma unroll
      for (int v = 0; v < 8; v += 4)
        store_vector(x, origin.row + row + i * side + lane_row, origin.col + col + j * side + lane_col + v,
                     *reinterpret_cast<const Vector<float>*>(staging + lane_row * staging_ld + lane_col + v));
      __syncwarp();
    }
#endif
}

const char* reject(const GemmKernel&, const GemmCall&, const Capabilities& machine) noexcept {
  return machine.compute_major >= 8 ? nullptr : "tf32 needs compute capability 8.0 or higher; use math mode strict";
}

Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept {
  const cudaStream_t stream = stream_of(queue);
  const VectorOperands<float> x(call);
  return with_layouts(call, [&](auto a, auto b) -> Status {
    const auto kernel = wmma_tf32<a.value, b.value>;
    constexpr std::size_t bytes = stages * sizeof(Stage<a.value, b.value>);
    if (Status status = allow_most_shared(kernel, "wmma_tf32"); !status.ok()) return status;
    kernel<<<tile_count(call, block_tile, block_tile), threads, bytes, stream>>>(x);
    return launched("wmma_tf32");
  });
}

} // namespace

const GemmKernel wmma_tf32_f32{.name = "wmma_tf32",
                               .summary = "tensor cores through the warp matrix API, cp.async in four stages",
                               .source = "kernel walkthrough",
                               .type = DType::F32,
                               .math = Math::Tf32,
                               .tile = {block_tile, block_tile, block_k},
                               .accumulator = Accumulator::Truncating,
                               .reject = reject,
                               .run = run,
                               .traffic = tile_traffic};

} // namespace tessera::cuda
