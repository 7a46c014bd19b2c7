#pragma once

/// How a stream_k block multiplies in f32: with FMAs. stream_k_f32.cu describes the tiles.

#include "cuda/gemm/common/warp_tile.cuh"
#include "kernel.cuh"

namespace tessera::cuda::stream_k {

/// Multiplies with FMAs. `together`: steps in one piece of code. `ahead`: number of steps that an operand is read
/// before its use.
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

  /// Rows are padded where elements are written one by one. Rows that are written as whole vectors are not, so that
  /// they stay in line with the sectors of memory.
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

  /// The addresses in shared memory of a thread's elements in a stage. They are numbers, and the next step is a
  /// constant distance away: the compiler would compute pointers again for each step.
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
    Fragments steps[ahead + 1]; ///< of the current step and of the next ones

    template <class Stage>
    __device__ void load(const Stage& stage, const Place& place) {
      const FragmentAddresses<Stage> addresses(stage, place);
#pragma unroll
      for (int step = 0; step < ahead; ++step) addresses.load(steps[step], step);
    }
  };

  /// Multiplies row by row, in turns forwards and backwards. The register file reads two operands a cycle, so one of
  /// the three operands of an FMA must still be an operand of the FMA before it; otherwise the FMA takes two cycles.
  __device__ static void add(Sums& sums, const Fragments& now) {
#pragma unroll
    for (int i = S::rows - 1; i >= 0; --i)
#pragma unroll
      for (int j = 0; j < S::cols; ++j) {
        const int there = i % 2 == 0 ? j : S::cols - 1 - j;
        sums.extend(i, there, now.a[i], now.b[there]);
      }
  }
  /// Sets the sums to 0. They are read as vectors from shared memory, with neighbours exchanged: the registers of a
  /// vector are consecutive, so the sums of column j and the elements of B for it, which are read as vectors too, then
  /// lie in different register banks. The reads are volatile, because otherwise the compiler would read one and copy
  /// it.
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
  /// Multiplies a few steps at a time, with a branch between the pieces: the assembler keeps the order within a step
  /// only if it cannot mix it with many others. A taken branch stalls a lone warp, so pieces are longer where a block
  /// has one consumer warp for each scheduler.
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
  __device__ static void store_by_rows(const VectorOperands<float>& x, Index row, Index col, const Sums& sums) {
    warp_tiling::store_by_rows<S>(x, row, col, sums);
  }
};

/// The tiles, in the order of the model's list.
namespace f32 {

using Large = FmaMultiplier<warp_tiling::Shape<float, 4, 2, 4, 2>, f32_large, 32, 4, 2>;
using Square = FmaMultiplier<warp_tiling::Wide<float>, f32_square, 32, 3, 2>;
using Medium = FmaMultiplier<warp_tiling::Shape<float, 2, 2, 2, 2>, f32_medium, 32, 4, 16>;
using Small = FmaMultiplier<warp_tiling::Shape<float, 2, 1, 2, 2, warp_tiling::Lanes::ZCurve>, f32_small, 32, 5, 32>;
using Flat = FmaMultiplier<warp_tiling::Shape<float, 1, 1, 2, 2, warp_tiling::Lanes::ZCurve>, f32_flat, 64, 4, 32, 3>;
using Least =
    FmaMultiplier<warp_tiling::Shape<float, 1, 1, 4, 1, warp_tiling::Lanes::ZCurve, 2>, f32_least, 64, 4, 32, 3>;

} // namespace f32

} // namespace tessera::cuda::stream_k
