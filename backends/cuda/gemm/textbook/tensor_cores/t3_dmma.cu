/// dmma: f64 on tensor cores, with the contract's bits.
///
/// The double-precision matrix instruction of Hopper adds its 16 products one after the other, each with one rounding:
/// that is the contract's chain, at twice the rate of DFMA. A warp computes 64×32 results; for a step of 16 k each lane
/// loads 48 elements for sixteen instructions. Tiles of 128×64×16 come by cp.async through three stages and are stored
/// as they lie in memory; rows of shared memory are padded so that fragments have no bank conflicts with any transpose.
/// One result costs 2·k operations and reads k/128 + k/64 elements from global memory (3·k/16 bytes). The sources are
/// the PTX ISA, "mma.m16n8k16 with .f64", and NVIDIA CUTLASS.

#include <tessera/backend/traffic.hpp>
#include <tessera/executor.hpp>

#include "cuda/device/shared_memory.hpp"
#include "cuda/gemm/common/dmma.cuh"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/textbook/rung.hpp"

namespace tessera::cuda {
namespace {

using S = dmma_tiling::Shape<4, 4, 2, 2, 16>;
constexpr int stages = 3;

/// d += A·B for a fragment of 16×8 results. Each lane has four results, in rows g and g + 8 and columns 2t and 2t + 1,
/// with g = lane / 4 and t = lane % 4. It passes the rows g and g + 8 of A and the column g of B, both at every fourth
/// k from t on.
__device__ inline void multiply([[maybe_unused]] double& d0, [[maybe_unused]] double& d1, [[maybe_unused]] double& d2,
                                [[maybe_unused]] double& d3, [[maybe_unused]] const double (&a)[8],
                                [[maybe_unused]] const double (&b)[4]) {
#if __CUDA_ARCH__ >= 900 // earlier devices are rejected
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64.rn {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, "
      "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
      : "+d"(d0), "+d"(d1), "+d"(d2), "+d"(d3)
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]),
        "d"(b[2]), "d"(b[3]));
#endif
}

/// Loads a lane's elements of fragment i of A, from step p on.
template <class Stage>
__device__ void load_a_fragment(double (&to)[8], int i, const Stage& stage, const S::Place& place, int p) {
#pragma unroll
  for (int e = 0; e < 8; ++e)
    to[e] = stage.a(place.row + i * dmma_tiling::fragment_m + e % 2 * 8, p + place.t + e / 2 * 4);
}
/// Loads a lane's elements of fragment j of B, from step p on.
template <class Stage>
__device__ void load_b_fragment(double (&to)[4], int j, const Stage& stage, const S::Place& place, int p) {
#pragma unroll
  for (int e = 0; e < 4; ++e) to[e] = stage.b(place.col + j * dmma_tiling::fragment_n, p + place.t + e * 4);
}

/// A lane's elements of two fragments of A, the current one and the next one, and of all fragments of B that the warp
/// has.
struct Fragment {
  double a[2][8], b[S::across][4];

  template <class Stage>
  __device__ void load_a(int i, const Stage& stage, const S::Place& place, int p) {
    load_a_fragment(a[i % 2], i, stage, place, p);
  }
  template <class Stage>
  __device__ void load_b(int j, const Stage& stage, const S::Place& place, int p) {
    load_b_fragment(b[j], j, stage, place, p);
  }
  /// Loads the elements that step() expects to be in registers.
  template <class Stage>
  __device__ void load(const Stage& stage, const S::Place& place) {
    load_a(0, stage, place, 0);
#pragma unroll
    for (int j = 0; j + 1 < S::across; ++j) load_b(j, stage, place, 0);
  }
};

/// Multiplies the stage's operands from step p on. Towards its end it calls ahead(), which returns the place of the
/// next operands once they are in shared memory, and loads their first fragments. Operands are loaded into registers
/// that the instruction before the last one has read, so that the matrix units have two instructions to execute while
/// a warp waits.
template <class Stage, class GetAhead>
__device__ void step(S::Sums& sums, Fragment& f, const Stage& stage, const S::Place& place, int p, GetAhead ahead) {
  Ahead<Stage> later{};
#pragma unroll
  for (int i = 0; i < S::down; ++i)
#pragma unroll
    for (int j = 0; j < S::across; ++j) {
      const int s = i * S::across + j;
      multiply(sums.at(s, 0), sums.at(s, 1), sums.at(s, 2), sums.at(s, 3), f.a[i % 2], f.b[j]);
      if (i == 0 && j == 0) f.load_b(S::across - 1, stage, place, p);
      if (j == 1 && i + 1 < S::down) f.load_a(i + 1, stage, place, p);
      if (i + 1 < S::down || j == 0) continue;
      if (j == 1) {
        later = ahead();
        f.load_a(0, *later.stage, place, later.p);
      }
      f.load_b(j - 1, *later.stage, place, later.p);
    }
}

/// Computes the tile of C at `origin` through a ring of `stages` stages. All S::threads threads of the block call it.
template <bool with_epilogue, Along a_along, Along b_along>
__device__ void multiply_tile(const VectorOperands<double>& x, const TileOrigin& origin,
                              S::Stage<a_along, b_along>* stage) {
  const int thread = static_cast<int>(threadIdx.x);
  const S::Place place(thread);
  AsyncTileLoader<double, S::block_m, S::block_k, S::threads, a_along, false> a(slice_a(x, a_along, origin.row),
                                                                                thread);
  AsyncTileLoader<double, S::block_n, S::block_k, S::threads, b_along, false> b(slice_b(x, b_along, origin.col),
                                                                                thread);
  S::Sums sums;
  S::Sums::Totals totals(x.k);

  // A commit without copies keeps the number of stages in flight constant until the end.
  const auto start = [&](Index k0, int to) {
    if (k0 < x.k) {
      a.copy(k0, stage[to].a.at);
      b.copy(k0, stage[to].b.at);
    }
    __pipeline_commit();
  };
#pragma unroll
  for (int s = 0; s + 1 < stages; ++s) start(s * S::block_k, s);
  __pipeline_wait_prior(stages - 2);
  __syncthreads();
  Fragment fragment;
  fragment.load(stage[0], place);
  int current = 0;
  int free = stages - 1; // the threads that read it last have passed the barrier
  for (Index k0 = 0; k0 < x.k; k0 += S::block_k) {
    start(k0 + (stages - 1) * S::block_k, free);
    free = current;
    sums.begin(k0, totals);
    step(sums, fragment, stage[current], place, 0, [&] {
      __pipeline_wait_prior(stages - 2);
      __syncthreads();
      current = current + 1 == stages ? 0 : current + 1;
      return Ahead<S::Stage<a_along, b_along>>{&stage[current], 0};
    });
  }
  sums.finish(x.k, totals);
  S::store<with_epilogue>(x, origin.row, origin.col, place, sums, totals);
}

/// There are two kernels, because the code of an epilogue would slow down products without one.
template <bool with_epilogue, Along a_along, Along b_along>
__global__ void __launch_bounds__(S::threads, 2) dmma(VectorOperands<double> x) {
  extern __shared__ float4 shared[];
  auto* const stage = reinterpret_cast<S::Stage<a_along, b_along>*>(shared);
  multiply_tile<with_epilogue>(x, tile_origin(x, S::block_m, S::block_n), stage);
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
    const auto kernel = x.epilogue.wanted ? dmma<true, a.value, b.value> : dmma<false, a.value, b.value>;
    constexpr std::size_t bytes = stages * sizeof(S::Stage<a.value, b.value>);
    if (Status status = allow_most_shared(kernel, "dmma"); !status.ok()) return status;
    kernel<<<tile_count(call, S::block_m, S::block_n), S::threads, bytes, stream>>>(x);
    return launched("dmma");
  });
}

} // namespace

const GemmKernel dmma_f64{.name = "dmma",
                          .summary = "f64 on tensor cores, cp.async in three stages",
                          .source = "CUTLASS",
                          .type = DType::F64,
                          .tile = {S::block_m, S::block_n, S::block_k},
                          .summation = Summation::Canonical,
                          .reject = reject,
                          .run = run,
                          .epilogue = true,
                          .traffic = tile_traffic};

} // namespace tessera::cuda
