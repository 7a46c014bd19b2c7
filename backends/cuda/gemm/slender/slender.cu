/// slender: products whose C has few rows or few columns, or is small. Their cost is the large operand, which is read
/// once at the speed of memory.
///
/// A block takes up to 128 rows of the large operand and one segment of k, so that even a single row of C keeps all
/// multiprocessors busy; a second kernel adds the sums of the segments in ascending order, which is the contract's
/// order. For one to four rows of C there are tiles of 32 columns and all of k: each warp has one segment at a
/// time, and the block adds the sums. On Hopper, up to 16 rows or columns and up to eight segments are multiplied by
/// warps that copy for themselves and send each other their sums: in f64 with matrix units (few_vectors_dmma.cuh), in
/// f32, also up to 64 rows or columns, where that costs less (few_vectors_ffma.cuh). Bytes: the large operand;
/// operations: 2·m·n·k. Source: Chen et al., "TSM2: Optimizing Tall-and-Skinny Matrix-Matrix Multiplication on GPUs"
/// (ICS 2019).

#include "kernel.cuh"

#include <algorithm>
#include <array>
#include <limits>

#include <tessera/executor.hpp>

#include "cuda/device/shared_memory.hpp"
#include "cuda/gemm/common/few_vectors_operands.hpp"
#include "cuda/gemm/common/segment_sums.cuh"
#include "cuda/gemm/common/stream_k_cost.hpp"
#include "cuda/gemm/ladder.hpp"
#include "cuda/queue/stream.hpp"
#include "few_vectors_dmma.cuh"
#include "few_vectors_ffma.cuh"

namespace tessera::cuda {
namespace {

using namespace slender_tiling;

constexpr int slender = 64; ///< the most rows or columns that count as few
/// Bytes for a block; every device from compute capability 8.0 on has them.
constexpr std::size_t least_shared = 99 << 10;

/// Says whether C has at most one block of 16×32 results and one segment of k for each multiprocessor.
bool few_results(const GemmCall& call, const Capabilities& machine) {
  const auto [small, large] = std::minmax(call.m, call.n);
  return ceil_div<Index>(small, 16) * ceil_div<Index>(large, 32) * ceil_div(call.k, canonical_segment) <=
         machine.multiprocessors;
}

const char* reject(const GemmKernel&, const GemmCall& call, const Capabilities& machine) noexcept {
  const Index small = std::min(call.m, call.n);
  if (machine.shared_memory_per_block < least_shared)
    return "it needs 99 KiB of shared memory a block; use async_copy, or no kernel's name";
  if (call.type == DType::F32 && few_results(call, machine)) return nullptr;
  if (small > slender)
    return "it is for products of which m or n is at most 64, and for few results in f32; use async_copy, or no "
           "kernel's name";
  if (machine.compute_major != 9) return nullptr;
  if (is_few_vectors_dmma(call)) return nullptr;
  if (call.type == DType::F64 && small > 4 && call.k >= 64)
    return "of more than 16 rows or columns in f64, or of more than 4 with k over 8192, stream_k makes more on Hopper; "
           "use it, or no kernel's name";
  if (small > few_vectors::few && is_few_vectors_ffma(call))
    return few_vectors_ffma_cost(call, machine.multiprocessors) < stream_k_cost_f32(call, machine.multiprocessors)
               ? nullptr
               : "of so many rows or columns stream_k makes more on Hopper; use it, or no kernel's name";
  if (call.type == DType::F32 && small > slender / 2 && std::max(call.m, call.n) > slender)
    return "of more than 32 rows or columns stream_k makes more on Hopper; use it, or no kernel's name";
  return nullptr;
}

template <class S, class T>
Index blocks_of(const SlenderOperands<T>& x) {
  return ceil_div<Index>(x.count, S::rows) * (S::together == 1 ? x.segments : 1) * ceil_div<Index>(x.length, S::wide);
}

template <class T, class S, Along along>
constexpr std::size_t shared_bytes = stages_of<SlenderStage<T, S, along>, S::together> *
                                     sizeof(SlenderStage<T, S, along>);

/// Estimates the clock cycles of a product with tile S. Shared memory fills one register of each lane a cycle, and the
/// L2 cache gives a multiprocessor about 28 bytes a cycle. Returns the largest number for a tile that the device cannot
/// run.
template <class S, class T>
Index cost(const SlenderOperands<T>& x, const Capabilities& machine) {
  constexpr Index width = sizeof(T) / 4, registers = (S::down + S::across) * width;
  constexpr Index multiplying = S::down * S::across * width;
  constexpr Index bytes = S::together * (S::rows + S::wide) * sizeof(T);
  constexpr std::size_t shared = std::max(shared_bytes<T, S, Along::K>, shared_bytes<T, S, Along::Outer>);
  constexpr std::size_t of_totals = S::together == 1 ? 0 : sizeof(typename BlockTotals<T, S>::Partial);
  if (shared + of_totals > machine.shared_memory_per_block) return std::numeric_limits<Index>::max();
  // Warps that have a segment each wait for their copies, which shows where each row of them feeds few columns.
  if (S::together > 1 && S::rows > 1 && x.count > S::rows) return std::numeric_limits<Index>::max();
  const Index steps = S::together == 1 ? std::min(x.k, canonical_segment)
                                       : ceil_div<Index>(x.segments, S::together) * canonical_segment;
  const Index adding = S::together == 1 && x.segments > 1 ? 5000 : 0;
  return ceil_div<Index>(blocks_of<S>(x), machine.multiprocessors) * steps *
             std::max({4 * registers, multiplying, bytes / 28}) +
         adding;
}

/// Launches the kernel of one tile.
template <class T, class S, Along along>
Status launch(cudaStream_t stream, const SlenderOperands<T>& x, const Capabilities& machine) noexcept {
  constexpr std::size_t bytes = shared_bytes<T, S, along>;
  const auto kernel = multiply<T, S, along>;
  const bool programmatic = machine.compute_major == 9;
  const std::size_t alone = std::max(bytes, more_than_half);
  if (Status status = allow_most_shared(kernel, "slender"); !status.ok()) return status;
  const Index blocks = blocks_of<S>(x);
  const Launch how{.blocks = blocks,
                   .threads = 2 * threads,
                   .shared = programmatic && blocks <= machine.multiprocessors ? alone : bytes,
                   .programmatic = programmatic};
  return launch_kernel(stream, how, "slender", kernel, x);
}

template <class T>
struct TileChoice {
  using Run = Status (*)(cudaStream_t, const SlenderOperands<T>&, const Capabilities&);
  Index cost;
  bool adds; ///< the block adds the sums of the segments itself
  Run along_k, along_outer;
};

/// Returns the cheapest tile; of several that cost the same, the first one.
template <class T, class... Tiles>
TileChoice<T> best_of(const SlenderOperands<T>& x, const Capabilities& machine) {
  const std::array choices{TileChoice<T>{cost<Tiles>(x, machine), x.segments == 1 || (Tiles::together > 1),
                                         launch<T, Tiles, Along::K>, launch<T, Tiles, Along::Outer>}...};
  return *std::min_element(choices.begin(), choices.end(),
                           [](const auto& one, const auto& other) { return one.cost < other.cost; });
}

template <class T>
Status run(const GemmKernel&, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  const cudaStream_t stream = stream_of(queue);
  const Capabilities& machine = executor.capabilities();
  const bool hopper = machine.compute_major == 9;
  if (hopper && is_few_vectors_dmma(call)) return launch_few_vectors_dmma(stream, call, "slender");
  const bool by_columns = call.m <= call.n;
  const Along a_along = call.op_a == Op::None ? Along::K : Along::Outer;
  const Along b_along = call.op_b == Op::None ? Along::Outer : Along::K;
  SlenderOperands<T> x(VectorOperands<T>(call), by_columns, a_along, b_along);
  const TileChoice<T> best =
      best_of<T, Tile<1, 128>, Tile<4, 128>, Tile<16, 128>, Tile<32, 128>, Tile<slender, 128>, Tile<32, 64>,
              Tile<16, 64>, Tile<16, 32>, Tile<1, 32, 4>, Tile<4, 32, 4>>(x, machine);
  if (hopper && is_few_vectors_ffma(call) && few_vectors_ffma_cost(call, machine.multiprocessors) < best.cost)
    return launch_few_vectors_ffma(stream, call, machine.multiprocessors, "slender");
  Scratch scratch;
  if (!best.adds) {
    if (Status status = allocate_sums<T>(scratch, executor, queue, x.segments, x.count * x.length); !status.ok())
      return status;
    x.sums = scratch.as<T>();
  }
  const auto launch_best = (by_columns ? b_along : a_along) == Along::K ? best.along_k : best.along_outer;
  if (Status status = launch_best(stream, x, machine); !status.ok() || best.adds) return status;
  return launch_add_segments<T>(
      stream, {.sums = x.sums, .segments = x.segments, .transposed = x.transposed, .epilogue = x.epilogue}, "slender",
      hopper);
}

template <class T>
constexpr GemmKernel rung{.name = "slender",
                          .summary = "few rows or columns: the large operand read once, k cut at the segments",
                          .source = "TSM2",
                          .type = dtype_of<T>,
                          .tile = {slender, threads, depth<T>},
                          .summation = Summation::Canonical,
                          .reject = reject,
                          .run = run<T>,
                          .epilogue = true,
                          .narrows = sizeof(T) == 4};

} // namespace

const GemmKernel slender_f32 = rung<float>;
const GemmKernel slender_f64 = rung<double>;

} // namespace tessera::cuda
