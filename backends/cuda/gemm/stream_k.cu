/// stream_k: async_copy's tiles in persistent blocks that share the work out evenly, to the bits of one chain.
///
/// Four warps copy, elements of an operand along k one by one so that it comes out transposed, and hand their registers
/// to four warps that do nothing but read shared memory and multiply: 128×128 results, 16×8 a thread, 6 reads for 128
/// FMAs. What does not fill a wave of blocks is cut anywhere along k: the next block goes on with the chains where the
/// one before stopped. Where C has few tiles, k is cut at the canonical segments as well, or tiles are 64×128. Bytes
/// as for async_copy, and four for each result that is handed on. Osama et al., "Stream-K: Work-Centric Parallel
/// Decomposition for Dense Matrix-Matrix Multiplication on the GPU" (PPoPP 2023), whose sums are added; warps with
/// roles are NVIDIA CUTLASS's.

#include "ladder.hpp"
#include "stream_k.cuh"
#include "warp_tile.cuh"

namespace tessera::cuda {
namespace {

/// FMAs on a tile whose threads have 4·vectors_m rows.
template <int vectors_m, int block_k_, int stages_, int cycles_, int cycles_alone_>
struct Fmas {
  using Element = float;
  using S = warp_tiling::Shape<float, vectors_m, 2, 2, 2>;
  static constexpr int block_m = S::block_m, block_n = S::block_n, block_k = block_k_, depth = 1;
  static constexpr int threads = S::threads, blocks = 2, stages = stages_;
  static constexpr int cycles = cycles_, cycles_alone = cycles_alone_;
  static constexpr int producer_registers = 40, registers = 256 - producer_registers;
  static constexpr int unrolled = 8; ///< steps: more would not fit into the cache for instructions
  static constexpr bool transposes = true;

  /// Rows are padded where they are written element by element; whole vectors stay in line with memory's sectors.
  template <int outer, Along along>
  struct alignas(32) Tile {
    float at[block_k][along == Along::K ? padded<float>(outer) : outer];
  };
  template <Along a_along, Along b_along>
  struct Stage {
    Tile<block_m, a_along> a;
    Tile<block_n, b_along> b;
  };
  using Place = warp_tiling::Position<S>;
  struct Fragment : warp_tiling::Parts<S> {
    template <class Stage>
    __device__ void load(const Stage& stage, const Place& place, int p) {
      warp_tiling::Parts<S>::load(&stage.a.at[p][place.row], &stage.b.at[p][place.col]);
    }
  };
  using Sums = warp_tiling::Sums<S>;
  __device__ static void multiply(Sums& sums, const Fragment& fragment) { sums.extend(fragment.a, fragment.b); }
  __device__ static void store(const VectorOperands<float>& x, Index row, Index col, const Place& place,
                               const Sums& sums) {
    warp_tiling::store<S>(x, row + place.row, col + place.col, sums);
  }
};

using Large = Fmas<4, 32, 3, 285, 165>; // deep stages, so that computing addresses costs less
using Small = Fmas<2, 16, 6, 165, 95>;

Status run(const GemmKernel& row, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  return stream_k::run<Large, Small>(row.name, executor, queue, call);
}

} // namespace

const GemmKernel stream_k_f32{.name = "stream_k",
                              .summary = "persistent blocks with warps that copy; work shared out evenly along k",
                              .source = "Stream-K; CUTLASS",
                              .type = DType::F32,
                              .tile = {Large::block_m, Large::block_n, Large::block_k},
                              .summation = Summation::Canonical,
                              .reject = stream_k::reject,
                              .run = run};

} // namespace tessera::cuda
