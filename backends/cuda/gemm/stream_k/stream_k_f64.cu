/// stream_k in f64: the matrix instruction of dmma, in tiles of 128×128, which are large enough for the L2 cache to
/// keep up.
///
/// A tile of 128×128 has two consumer warps for each scheduler, of 64×32 results each, and one block on a
/// multiprocessor. Tiles of 128×64 and 64×64 have warps of 32×32 and 32×16 results. A smaller C takes tiles of 64×32 or
/// 32×64, with four warps and two blocks on a multiprocessor, or 32×32. A stage has 32 k, and the smallest tile's has
/// 64, because handing a stage over costs a lone warp more than the products of 16 k. Tiles of 128×128 read m·n·k/64
/// elements; tiles of 128×64, and dmma's, read half as many again, which is all that the L2 cache can deliver
/// (docs/lab/cuda_gemm.md). The segments of few tiles are added in a chain of blocks (chain.cuh). Everything else is as
/// in stream_k_f32.cu.

#include "cuda/gemm/common/dmma.cuh"
#include "cuda/gemm/ladder.hpp"
#include "launch.cuh"

namespace tessera::cuda {
namespace stream_k {

template <class Shape, TileModel tile_, int stages_>
struct DmmaMultiplier : Shape {
  using Element = double;
  static constexpr TileModel tile = tile_;
  static_assert(tile.m == Shape::block_m && tile.n == Shape::block_n);
  static constexpr int blocks = tile.blocks, stages = stages_;
  static constexpr int producer_registers = 40;
  static constexpr int registers = blocks == 1 ? 232 : 216;
  static constexpr int granule = dmma_tiling::depth;
  static constexpr bool transposes = false;
  static constexpr bool cache_adds = true, reloads = true, chained = false;
  static_assert(Shape::block_k % dmma_tiling::depth == 0);

  __device__ static void clear(typename Shape::Sums& sums, const float*) { sums = {}; }
  template <class Stage, class Next>
  __device__ static void multiply(typename Shape::Sums& sums, typename Shape::Fragment& fragment, const Stage& stage,
                                  const typename Shape::Place& place, Next next) {
#pragma unroll
    for (int p = 0; p < Shape::block_k; p += dmma_tiling::depth) {
      const int later = p + dmma_tiling::depth;
      Shape::step(sums, fragment, stage, place, p, [&] {
        return later < Shape::block_k ? Ahead<Stage>{&stage, later} : Ahead<Stage>{&next(), 0};
      });
    }
  }
  template <class Stage, class Next>
  __device__ static void multiply_rest(typename Shape::Sums& sums, typename Shape::Fragment& fragment,
                                       const Stage& stage, const typename Shape::Place& place, int steps, Next next) {
#pragma unroll
    for (int p = 0; p + dmma_tiling::depth < Shape::block_k; p += dmma_tiling::depth) {
      const int later = p + dmma_tiling::depth;
      if (p < steps)
        Shape::step(sums, fragment, stage, place, p, [&] {
          return later < steps ? Ahead<Stage>{&stage, later} : Ahead<Stage>{&next(), 0};
        });
    }
  }
};

template <class M>
struct Chained : M {
  static constexpr bool chained = true;
};

} // namespace stream_k

namespace {

using Large = stream_k::DmmaMultiplier<dmma_tiling::Shape<4, 4, 2, 4, 32>, stream_k::f64_large, 3>;
using Medium = stream_k::DmmaMultiplier<dmma_tiling::Shape<2, 4, 4, 2, 32>, stream_k::f64_medium, 4>;
using Square = stream_k::DmmaMultiplier<dmma_tiling::Shape<2, 2, 2, 4, 32>, stream_k::f64_square, 4>;
using Small = stream_k::DmmaMultiplier<dmma_tiling::Shape<2, 2, 2, 2, 32>, stream_k::f64_small, 4>;
using Flat = stream_k::DmmaMultiplier<dmma_tiling::Shape<2, 2, 1, 4, 32>, stream_k::f64_flat, 4>;
using Least =
    stream_k::DmmaMultiplier<dmma_tiling::StepAhead<dmma_tiling::Shape<1, 2, 2, 2, 64>>, stream_k::f64_least, 4>;

Status run(const GemmKernel& row, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  return stream_k::run_chained_or<stream_k::Chained<Large>, Large, Medium, Square, Small, Flat, Least>(
      row.name, executor, queue, call);
}

} // namespace

const GemmKernel stream_k_f64{
    .name = "stream_k",
    .summary = "dmma in persistent blocks with warps that copy; work shared out evenly along k",
    .source = "Stream-K; CUTLASS",
    .type = DType::F64,
    .tile = {Large::block_m, Large::block_n, Large::block_k},
    .summation = Summation::Canonical,
    .reject = stream_k::reject,
    .run = run,
    .epilogue = true};

} // namespace tessera::cuda
