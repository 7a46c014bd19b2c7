/// stream_k: async_copy's tiles in persistent blocks that share the work out evenly, to the bits of one chain.
///
/// Four warps copy, elements of an operand along k one by one so that it comes out transposed, and hand their registers
/// to eight warps that do nothing but read shared memory and multiply: 256×128 results, 16×8 a thread, 6 reads for 128
/// FMAs. What does not fill a wave of blocks is cut anywhere along k: the next block goes on with the chains where the
/// one before stopped. Where C has few tiles, k is cut at the canonical segments as well, or tiles are 64×128. Bytes
/// as for async_copy, and four for each result that is handed on. Osama et al., "Stream-K: Work-Centric Parallel
/// Decomposition for Dense Matrix-Matrix Multiplication on the GPU" (PPoPP 2023), whose sums are added; warps with
/// roles are NVIDIA CUTLASS's.

#include "ladder.hpp"
#include "stream_k.cuh"
#include "warp_tile.cuh"

namespace tessera::cuda {
namespace stream_k {

template <class S_, int blocks_, int block_k_, int stages_, int cycles_, int cycles_alone_>
struct Fmas {
  using Element = float;
  using S = S_;
  static constexpr int block_m = S::block_m, block_n = S::block_n, block_k = block_k_;
  static constexpr int depth = 1;
  static constexpr int threads = S::threads, blocks = blocks_, stages = stages_;
  static constexpr int cycles = cycles_, cycles_alone = cycles_alone_;
  static constexpr int producer_registers = 40, registers = blocks == 1 ? 232 : 216;
  static constexpr int unrolled = 8; ///< steps: more would not fit into the cache for instructions
  static_assert(unrolled % 2 == 0);
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
  /// What a thread needs of this step and of the next.
  struct Fragment {
    warp_tiling::Parts<S> parts[2];

    template <class Stage>
    __device__ void load(const Stage& stage, const Place& place) {
      load(0, stage, place, 0);
    }
    template <class Stage>
    __device__ void load(int which, const Stage& stage, const Place& place, int p) {
      parts[which].load(&stage.a.at[p][place.row], &stage.b.at[p][place.col]);
    }
  };
  using Sums = warp_tiling::Sums<S>;
  /// Row by row and back: the register file reads two operands a cycle, so that of a multiply-add's three one must be
  /// the last one's still. Else it takes two cycles; 16 FMAs in a row that share one reach 94 % of the peak, 8 reach 89
  /// % and single ones 50 %.
  template <class Stage, class GetAhead>
  __device__ static void step(Sums& sums, Fragment& fragment, int number, const Stage&, const Place& place, int,
                              GetAhead ahead) {
    const auto next = ahead();
    fragment.load((number + 1) % 2, *next.stage, place, next.p);
    const warp_tiling::Parts<S>& now = fragment.parts[number % 2];
#pragma unroll
    for (int i = S::rows - 1; i >= 0; --i)
#pragma unroll
      for (int j = 0; j < S::cols; ++j) {
        const int there = i % 2 == 0 ? j : S::cols - 1 - j;
        sums.extend(i, there, now.a[i], now.b[there]);
      }
  }
  template <bool finishes>
  __device__ static void store(const VectorOperands<float>& x, Index row, Index col, const Place& place,
                               const Sums& sums, typename Sums::Totals& totals) {
    if constexpr (finishes)
      warp_tiling::store_finished<S>(x.finish, held_in(totals, sums), row + place.row, col + place.col);
    else
      warp_tiling::store_plain<S>(x, row + place.row, col + place.col, sums);
  }
};

} // namespace stream_k

namespace {

using Large = stream_k::Fmas<warp_tiling::Shape<float, 4, 2, 4, 2>, 1, 32, 4, 310, 310>;
using Small = stream_k::Fmas<warp_tiling::Shape<float, 2, 2, 2, 2>, 2, 16, 6, 175, 120>;

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
                              .run = run,
                              .epilogue = true,
                              .narrows = true};

} // namespace tessera::cuda
