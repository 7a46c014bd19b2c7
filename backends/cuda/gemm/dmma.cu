/// dmma: f64 on tensor cores, with the canonical bits.
///
/// A double-precision matrix instruction of Hopper adds its eight products one after the other, each with one rounding:
/// the canonical chain, at twice the rate of DFMA. A warp has 64×32 results; a step of eight k loads 24 elements a lane
/// for sixteen instructions. Tiles of 128×64×16 come by cp.async through three stages, as they are stored: rows of
/// shared memory are padded so that fragments have no bank conflicts either way. 2·m·n·k operations, m·n·k·(1/128 +
/// 1/64) elements read. PTX ISA, "mma.m16n8k8 with .f64"; NVIDIA CUTLASS.

#include <tessera/executor.hpp>

#include "async_loader.cuh"
#include "grid.cuh"
#include "ladder.hpp"
#include "status.hpp"
#include "stream.hpp"

namespace tessera::cuda {
namespace {

constexpr int fragment_m = 16, fragment_n = 8, depth = 8; ///< of one instruction
constexpr int down = 4, across = 4;                       ///< fragments of a warp
constexpr int warp_m = down * fragment_m, warp_n = across * fragment_n;
constexpr int block_m = 2 * warp_m, block_n = 2 * warp_n, block_k = 16;
constexpr int steps = block_k / depth;
constexpr int threads = 4 * 32;
constexpr int stages = 3;
constexpr int padding = 4; ///< makes rows of 4 modulo 16 elements, so that 4×4 neighbours lie in 16 different banks

/// A tile as its operand is stored.
template <int outer, Along along>
struct alignas(16) StoredTile {
  static constexpr int lines = along == Along::K ? outer : block_k;
  static constexpr int ld = (along == Along::K ? block_k : outer) + padding;
  double at[lines][ld];

  __device__ double operator()(int i, int p) const { return along == Along::K ? at[i][p] : at[p][i]; }
};

template <Along a_along, Along b_along>
struct Stage {
  StoredTile<block_m, a_along> a;
  StoredTile<block_n, b_along> b;
};

/// A fragment of results is four a lane: rows g and g + 8, columns 2t and 2t + 1, with g = lane / 4 and t = lane % 4.
using Sums = CanonicalTile<double, down * across, 4>;

__device__ void multiply([[maybe_unused]] Sums& sums, [[maybe_unused]] int fragment,
                         [[maybe_unused]] const double (&a)[4], [[maybe_unused]] const double (&b)[2]) {
#if __CUDA_ARCH__ >= 900 // earlier devices are rejected
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64.rn {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+d"(sums.at(fragment, 0)), "+d"(sums.at(fragment, 1)), "+d"(sums.at(fragment, 2)), "+d"(sums.at(fragment, 3))
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#endif
}

/// What a lane needs of one step: its elements of the warp's fragments.
struct Parts {
  double a[down][4], b[across][2];

  /// From step p on of a stage; row, col and p are the lane's.
  template <class S>
  __device__ void load(const S& stage, int row, int col, int p) {
#pragma unroll
    for (int i = 0; i < down; ++i)
#pragma unroll
      for (int e = 0; e < 4; ++e) a[i][e] = stage.a(row + i * fragment_m + e % 2 * 8, p + e / 2 * 4);
#pragma unroll
    for (int j = 0; j < across; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) b[j][e] = stage.b(col + j * fragment_n, p + e * 4);
  }
};

template <Along a_along, Along b_along>
__global__ void __launch_bounds__(threads, 2) dmma(VectorOperands<double> x) {
  extern __shared__ float4 shared[];
  auto* const stage = reinterpret_cast<Stage<a_along, b_along>*>(shared);
  const TileOrigin origin = tile_origin(x, block_m, block_n);
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32;
  const int g = thread % 32 / 4;
  const int t = thread % 4;
  const int row = warp / 2 * warp_m + g;
  const int col = warp % 2 * warp_n + g;
  AsyncTileLoader<double, block_m, block_k, threads, a_along, false> a(slice_a(x, a_along, origin.row), thread);
  AsyncTileLoader<double, block_n, block_k, threads, b_along, false> b(slice_b(x, b_along, origin.col), thread);
  Sums sums;
  Sums::Totals totals(x.k);

  // A commit without copies keeps the count of stages under way the same to the end.
  const auto start = [&](Index k0, int to) {
    if (k0 < x.k) {
      a.copy(k0, stage[to].a.at);
      b.copy(k0, stage[to].b.at);
    }
    __pipeline_commit();
  };
#pragma unroll
  for (int s = 0; s + 1 < stages; ++s) start(s * block_k, s);
  __pipeline_wait_prior(stages - 2);
  __syncthreads();
  Parts parts[2];
  parts[0].load(stage[0], row, col, t);
  int current = 0;
  int free = stages - 1; // its last readers have passed the barrier
  for (Index k0 = 0; k0 < x.k; k0 += block_k) {
    start(k0 + (stages - 1) * block_k, free);
    free = current;
    sums.begin(k0, totals);
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      if (step + 1 == steps) {
        __pipeline_wait_prior(stages - 2);
        __syncthreads();
        current = current + 1 == stages ? 0 : current + 1;
      }
      parts[(step + 1) % 2].load(stage[current], row, col, (step + 1) % steps * depth + t);
#pragma unroll
      for (int i = 0; i < down; ++i)
#pragma unroll
        for (int j = 0; j < across; ++j) multiply(sums, i * across + j, parts[step % 2].a[i], parts[step % 2].b[j]);
    }
  }
  sums.finish(x.k, totals);
#pragma unroll
  for (int i = 0; i < down; ++i)
#pragma unroll
    for (int j = 0; j < across; ++j)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        Vector<double> sum;
        sum.lane[0] = sums.value(i * across + j, half * 2);
        sum.lane[1] = sums.value(i * across + j, half * 2 + 1);
        store_vector(x, origin.row + row + i * fragment_m + half * 8,
                     origin.col + warp % 2 * warp_n + j * fragment_n + t * 2, sum);
      }
}

const char* reject(const GemmKernel&, const GemmCall&, const Capabilities& machine) noexcept {
  return machine.compute_major == 9
             ? nullptr
             : "its matrix instruction needs compute capability 9.0 (Hopper); use async_copy, or "
               "no kernel's name";
}

Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept {
  const cudaStream_t stream = stream_of(queue);
  const VectorOperands<double> x(call);
  return with_layouts(call, [&](auto a, auto b) -> Status {
    const auto kernel = dmma<a.value, b.value>;
    constexpr std::size_t bytes = stages * sizeof(Stage<a.value, b.value>);
    if (Status status = check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                              "dmma: more shared memory");
        !status.ok())
      return status;
    kernel<<<tile_count(call, block_m, block_n), threads, bytes, stream>>>(x);
    return launched("dmma");
  });
}

} // namespace

const GemmKernel dmma_f64{.name = "dmma",
                          .summary = "f64 on tensor cores, cp.async in three stages",
                          .source = "CUTLASS",
                          .type = DType::F64,
                          .tile = {block_m, block_n, block_k},
                          .summation = Summation::Canonical,
                          .reject = reject,
                          .run = run};

} // namespace tessera::cuda
