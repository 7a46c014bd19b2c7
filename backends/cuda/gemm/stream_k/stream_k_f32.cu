/// stream_k: async_copy's tiles in persistent blocks that share the work out evenly, to the bits of one chain.
///
/// Four warps copy, elements of an operand along k one by one so that it comes out transposed, and hand their registers
/// to eight warps that do nothing but read shared memory and multiply: 256×128 results, 16×8 a thread, 6 reads for 128
/// FMAs; or to four warps with 128×128, two blocks a multiprocessor, one of which multiplies while the other one
/// stores; or, of a smaller C, 64×128, 64×64, 32×64 or 32×32. What does not fill a wave of blocks is cut anywhere along
/// k: the next block goes on with the chains where the one before stopped. Where C has few tiles, k is cut at the
/// canonical segments as well. Bytes as for async_copy, four for each result that is handed on, and eight for each and
/// each segment of k but the first. Osama et al., "Stream-K: Work-Centric Parallel Decomposition for Dense
/// Matrix-Matrix Multiplication on the GPU" (PPoPP 2023), whose sums are added; warps with roles are NVIDIA CUTLASS's.

#include "cuda/gemm/common/repack.cuh"
#include "cuda/gemm/common/warp_tile.cuh"
#include "cuda/gemm/ladder.hpp"
#include "launch.cuh"

namespace tessera::cuda {
namespace stream_k {

/// `together`: steps in one piece of code. `ahead`: how many steps before its use an operand is read.
template <class S_, TileModel tile_, int block_k_, int stages_, int together, int ahead = 1>
struct FmaMultiplier {
  using Element = float;
  using S = S_;
  static constexpr int block_m = S::block_m, block_n = S::block_n, block_k = block_k_;
  static constexpr TileModel tile = tile_;
  static_assert(tile.m == block_m && tile.n == block_n);
  static constexpr int threads = S::threads, blocks = tile.blocks, stages = stages_;
  static constexpr int producer_registers = 40, registers = blocks == 1 ? 232 : 216;
  static constexpr bool transposes = true;
  static constexpr bool chained = false, cache_adds = false, reloads = false;

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
  using Sums = warp_tiling::Sums<S>;
  using Fragments = warp_tiling::Fragments<S>;

  /// Where a thread's elements of a step are in a stage: addresses of shared memory, to which a step further is a
  /// constant. As pointers the compiler works them out again for each step.
  template <class Stage>
  class FragmentAddresses {
   public:
    __device__ FragmentAddresses(const Stage& stage, const Place& place)
        : a_(address(&stage.a.at[0][place.row])), b_(address(&stage.b.at[0][place.col])) {}
    __device__ void load(Fragments& fragments, int step) const {
#pragma unroll
      for (int v = 0; v < S::vectors_m; ++v)
        load<S::width_m>(fragments.a + v * S::width_m,
                         a_ + step * a_bytes + v * S::lanes_m * S::width_m * sizeof(float));
#pragma unroll
      for (int v = 0; v < S::vectors_n; ++v)
        load<S::width>(fragments.b + v * S::width, b_ + step * b_bytes + v * S::lanes_n * S::width * sizeof(float));
    }
    __device__ void advance(int steps) {
      a_ += steps * a_bytes;
      b_ += steps * b_bytes;
    }

   private:
    static constexpr unsigned a_bytes = sizeof(Stage::a.at[0]), b_bytes = sizeof(Stage::b.at[0]);

    __device__ static unsigned address(const float* shared) {
      return static_cast<unsigned>(__cvta_generic_to_shared(shared));
    }
    template <int width>
    __device__ static void load(float* to, unsigned from) {
      static_assert(width == 4 || width == 2);
      if constexpr (width == 4)
        asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
                     : "r"(from));
      else
        asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(to[0]), "=f"(to[1]) : "r"(from));
    }

    unsigned a_, b_;
  };

  struct Fragment {
    Fragments steps[ahead + 1]; ///< of this step and of the next ones

    template <class Stage>
    __device__ void load(const Stage& stage, const Place& place) {
      const FragmentAddresses<Stage> addresses(stage, place);
#pragma unroll
      for (int step = 0; step < ahead; ++step) addresses.load(steps[step], step);
    }
  };

  /// Row by row and back: the register file reads two operands a cycle, so that of a multiply-add's three one must be
  /// the last one's still. Else it takes two cycles.
  __device__ static void add(Sums& sums, const Fragments& now) {
#pragma unroll
    for (int i = S::rows - 1; i >= 0; --i)
#pragma unroll
      for (int j = 0; j < S::cols; ++j) {
        const int there = i % 2 == 0 ? j : S::cols - 1 - j;
        sums.extend(i, there, now.a[i], now.b[there]);
      }
  }
  /// As vectors from shared memory, neighbours the other way round: a vector's registers follow one another, so that
  /// the sums of column j and the elements of B for it, which come as vectors too, lie in different banks of registers.
  /// Volatile, or one would be read and copied.
  __device__ static void clear(Sums& sums, const float* zeros) {
    const auto from = static_cast<unsigned>(__cvta_generic_to_shared(zeros));
#pragma unroll
    for (int i = 0; i < S::rows; ++i)
#pragma unroll
      for (int j = 0; j < S::cols; j += 4)
        asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(sums.at(i, j + 1)), "=f"(sums.at(i, j)), "=f"(sums.at(i, j + 3)), "=f"(sums.at(i, j + 2))
                     : "r"(from));
  }
  template <class Stage, class Next>
  __device__ static void multiply(Sums& sums, Fragment& fragment, const Stage& stage, const Place& place, Next next) {
    static_assert(block_k % together == 0);
    multiply_pieces<together>(sums, fragment, stage, place, block_k, next);
  }
  static constexpr int granule = ahead + 1;
  template <class Stage, class Next>
  __device__ static void multiply_rest(Sums& sums, Fragment& fragment, const Stage& stage, const Place& place,
                                       int steps, Next next) {
    multiply_pieces<granule>(sums, fragment, stage, place, steps, next);
  }
  /// A few steps at a time with a branch between them: the assembler keeps the order within a step only if it cannot
  /// mix it with many others. But a branch that is taken costs a lone warp 20 cycles.
  template <int piece, class Stage, class Next>
  __device__ static void multiply_pieces(Sums& sums, Fragment& fragment, const Stage& stage, const Place& place,
                                         int steps, Next next) {
    static_assert(piece % granule == 0);
    FragmentAddresses<Stage> addresses(stage, place);
#pragma unroll 1
    for (int left = steps; left > 0; left -= piece) {
#pragma unroll
      for (int step = 0; step < piece; ++step) {
        if (step == piece - ahead) {
          addresses.advance(piece);
          if (left <= piece) [[unlikely]]
            addresses = FragmentAddresses<Stage>(next(), place);
        }
        addresses.load(fragment.steps[(step + ahead) % granule], (step + ahead) % piece);
        add(sums, fragment.steps[step % granule]);
      }
    }
  }
  template <bool with_epilogue>
  __device__ static void store(const VectorOperands<float>& x, Index row, Index col, const Place& place,
                               const Sums& sums, typename Sums::Totals& totals) {
    constexpr Edges edges = blocks == 1 ? Edges::Rolled : Edges::Unrolled;
    if constexpr (with_epilogue)
      warp_tiling::store_with_epilogue<S>(x.epilogue, held_in(totals, sums), row + place.row, col + place.col);
    else
      warp_tiling::store_plain<S, edges>(x, row + place.row, col + place.col, sums, totals);
  }
};

} // namespace stream_k

namespace {

using Large = stream_k::FmaMultiplier<warp_tiling::Shape<float, 4, 2, 4, 2>, stream_k::f32_large, 32, 4, 2>;
using Square = stream_k::FmaMultiplier<warp_tiling::Wide<float>, stream_k::f32_square, 32, 3, 2>;
using Medium = stream_k::FmaMultiplier<warp_tiling::Shape<float, 2, 2, 2, 2>, stream_k::f32_medium, 32, 4, 16>;
using Small = stream_k::FmaMultiplier<warp_tiling::Shape<float, 2, 1, 2, 2, warp_tiling::Lanes::ZCurve>,
                                      stream_k::f32_small, 32, 5, 32>;
using Flat = stream_k::FmaMultiplier<warp_tiling::Shape<float, 1, 1, 2, 2, warp_tiling::Lanes::ZCurve>,
                                     stream_k::f32_flat, 64, 4, 32, 3>;
using Least = stream_k::FmaMultiplier<warp_tiling::Shape<float, 1, 1, 4, 1, warp_tiling::Lanes::ZCurve, 2>,
                                      stream_k::f32_least, 64, 4, 32, 3>;

/// From here on a copy of an operand with its lines along m or n, 2.2 TB/s, costs less than the 3 % that copying
/// single elements into shared memory costs the product.
constexpr Index worth_copying = 3072;

/// Makes the operand, outer×k as the product sees it, k lines of neighbours: `wanted` is its op then.
Status copy_lines(Executor& executor, Queue& queue, Scratch& copy, Index outer, Index k, const void*& x, Index& ld,
                  Op& op, Op wanted) noexcept {
  if (op == wanted && vectors_allowed(static_cast<const float*>(x), ld)) return {};
  const Index line = ceil_div<Index>(outer, 32) * 32;
  if (!copy.allocate(executor, queue, static_cast<std::size_t>(k * line) * sizeof(float)).ok())
    return {}; // the operand as it is gives the same product
  const bool along_k = op != wanted;
  repack(stream_of(queue),
         StridedMatrix<float>{static_cast<const float*>(x), along_k ? 1 : ld, along_k ? ld : 1, k, outer},
         copy.as<float>(), line, k, outer, 0.0F);
  x = copy.data();
  ld = line;
  op = wanted;
  return launched("copying an operand");
}

Status run(const GemmKernel& row, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  GemmCall lines = call;
  Scratch a, b;
  if (call.n >= worth_copying)
    if (Status status = copy_lines(executor, queue, a, call.m, call.k, lines.a, lines.lda, lines.op_a, Op::Transpose);
        !status.ok())
      return status;
  if (call.m >= worth_copying)
    if (Status status = copy_lines(executor, queue, b, call.n, call.k, lines.b, lines.ldb, lines.op_b, Op::None);
        !status.ok())
      return status;
  return stream_k::run<Large, Square, Medium, Small, Flat, Least>(row.name, executor, queue, lines);
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
