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

#include "cuda/gemm/ladder.hpp"
#include "dmma_multiplier.cuh"
#include "launch.cuh"

namespace tessera::cuda {
namespace {

using namespace stream_k::f64;

Status run(const GemmKernel& kernel, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  return stream_k::run_chained_or<stream_k::Chained<Large>, Large, Medium, Square, Small, Flat, Least>(
      kernel.name, executor, queue, call);
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
