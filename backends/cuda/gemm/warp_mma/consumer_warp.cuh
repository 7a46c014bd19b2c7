#pragma once

/// A consumer warp: it reads fragments of its part of a tile from the stages, and adds their products up.
///
/// The products of few results are one chain of instructions, 24 cycles each, of which the warp may not lose one. So it
/// reads the fragments of a whole panel ahead, asks early whether the next stage is full, and rarely branches.

#include "params.cuh"

namespace tessera::cuda::warp_mma {

#if __CUDA_ARCH__ >= 800

/// A warp's sums: in each fragment a lane has two neighbours of row lane / 4, and two of the row 8 below it.
template <class Tile>
struct WarpSums {
  float at[Tile::fragments_m][Tile::fragments_n][4];

  __device__ void set(float value) {
    each([&](float& x) { x = value; });
  }
  /// Calls f for each sum.
  template <class F>
  __device__ void each(F f) {
#pragma unroll
    for (auto& across : at)
#pragma unroll
      for (auto& fragment : across)
#pragma unroll
        for (float& x : fragment) f(x);
  }
  /// Calls f(i, half, pair, first, second) for each two sums whose columns are neighbours: `pair` is their number in
  /// the row. `across`: the lane has neighbouring columns of the operand (FragmentPlace::in_pairs), so that the two are
  /// of different fragments.
  template <class F>
  __device__ void each_pair(bool across, F f) {
#pragma unroll
    for (int i = 0; i < Tile::fragments_m; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int pair = 0; pair < Tile::fragments_n; ++pair) {
          const float* const first = at[i][pair / 2 * 2] + half * 2 + pair % 2;
          const float* const own = at[i][pair] + half * 2;
          f(i, half, pair, across ? first[0] : own[0], across ? first[4] : own[1]);
        }
  }
  /// Calls f for the four sums of each fragment, with the fragment's number.
  template <class F>
  __device__ void each_vector(F f) {
#pragma unroll
    for (int i = 0; i < Tile::fragments_m; ++i)
#pragma unroll
      for (int j = 0; j < Tile::fragments_n; ++j) f(at[i][j], i * Tile::fragments_n + j);
  }
  /// Adds the sums of the segment that follows.
  __device__ void add(const WarpSums& next) {
#pragma unroll
    for (int i = 0; i < Tile::fragments_m; ++i)
#pragma unroll
      for (int j = 0; j < Tile::fragments_n; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) at[i][j][e] = __fadd_rn(at[i][j][e], next.at[i][j][e]);
  }
};

using panel_ring::Barriers;
using panel_ring::Work;

/// A warp's part of a tile: it multiplies panel by panel, while it reads the fragments that come next.
template <class T, class Tile, Along a_along, Along b_along, Lines a_lines, Lines b_lines>
class ConsumerWarp {
  static constexpr int steps = depth_bytes / 32;
  static constexpr int sets = Tile::holds_panels ? 2 * steps : 2; ///< of fragments
  static constexpr int panel_bytes = Tile::panel_bytes(a_lines, b_lines), stage_bytes = Tile::panels * panel_bytes;
  static_assert(Tile::panels <= 2);

 public:
  /// The warp's part begins at `row` and `column` of the tile.
  __device__ ConsumerWarp(const Product& x, const Work& work, unsigned shared,
                          const Barriers<Tile::most_stages>& barriers, int row, int column, int lane)
      : shared_(shared),
        stages_(x.stages),
        barriers_(barriers),
        a_(x.a, work.row, row, lane),
        b_(x.b, work.column, column, lane),
        lane_(lane) {}

  /// Adds up the products of `left` panels; each `of_segment` panels are one chain.
  __device__ void add_products(int left, int of_segment, WarpSums<Tile>& total) {
    if (left > 0) {
      barriers_.wait_until_full(next_);
#pragma unroll
      for (int step = 0; step < sets / 2; ++step) read(shared_, step, step);
    }
    do {
      sums_.set(0);
      int here = left < of_segment ? left : of_segment; // all segments but the last one have an even number of panels
      left -= here;
      // A branch takes as long as two steps of the chain.
      for (; here >= together && left + here > together; here -= together) {
#pragma unroll
        for (int panel = 0; panel < together; panel += 2) {
          multiply_panel<0, true>(true);
          multiply_panel<1, true>(true);
        }
      }
      for (; here > 1; here -= 2) {
        multiply_panel<0, false>(true);
        multiply_panel<1, false>(left + here > 2);
      }
      if (here > 0) multiply_panel<0, false>(false);
      total.add(sums_);
    } while (left > 0);
  }

 private:
  static constexpr int together = 8; ///< panels between two branches

  /// Multiplies an even panel or an odd one, which have different sets of fragments. `more`: another one follows; where
  /// that is known to be so, `surely`. Where none follows, the warp reads what is there and multiplies none of it,
  /// because a branch around the reads would hold the products up.
  template <int odd, bool surely>
  __device__ void multiply_panel(bool more) {
    constexpr bool begins_stage = Tile::panels == 1 || odd == 0, ends_stage = Tile::panels == 1 || odd == 1;
    if constexpr (begins_stage) {
      stage_ = next_.stage;
      next_.advance(stages_);
      next_is_full_ = barriers_.is_full(next_); // the answer takes a while
    }
    const unsigned panel = shared_ + stage_ * stage_bytes + (begins_stage ? 0 : panel_bytes);
    const auto next_panel = [&] {
      if constexpr (!ends_stage) return panel + panel_bytes;
      if ((surely || more) && !next_is_full_) [[unlikely]]
        barriers_.wait_until_full(next_);
      return shared_ + next_.stage * stage_bytes;
    };
    if constexpr (Tile::holds_panels) {
      constexpr int now = odd * steps, later = steps - now;
      multiply(now); // runs while the warp waits
      const unsigned next = next_panel();
      read(next, 0, later);
#pragma unroll
      for (int step = 1; step < steps; ++step) {
        read(next, step, later + step);
        multiply(now + step);
      }
    } else {
#pragma unroll
      for (int step = 0; step < steps; ++step) {
        if (step + 1 < steps)
          read(panel, step + 1, (step + 1) % 2);
        else
          read(next_panel(), 0, (step + 1) % 2);
        multiply(step % 2);
      }
    }
    if (ends_stage || (!surely && !more)) barriers_.release(stage_, lane_);
  }
  __device__ void read(unsigned panel, int step, int set) {
#pragma unroll
    for (int i = 0; i < Tile::fragments_m; ++i) a_.read(panel, i, step, left_[set][i]);
#pragma unroll
    for (int j = 0; j < Tile::fragments_n / 2; ++j)
      b_.read(panel + Tile::operand_bytes(a_lines), j, step, right_[set][j]);
  }
  __device__ void multiply(int set) {
#pragma unroll
    for (int i = 0; i < Tile::fragments_m; ++i)
#pragma unroll
      for (int j = 0; j < Tile::fragments_n; ++j) {
        const unsigned(&a)[4] = left_[set][i];
        const unsigned* const b = right_[set][j / 2] + j % 2 * 2;
        multiply_in_warp<T>(sums_.at[i][j], a[0], a[1], a[2], a[3], b[0], b[1]);
      }
  }

  const unsigned shared_;
  const int stages_;
  const Barriers<Tile::most_stages> barriers_;
  const FragmentPlace<T, Tile::side, a_along, a_lines, false> a_;
  const FragmentPlace<T, Tile::side, b_along, b_lines, true> b_;
  const int lane_;
  int stage_ = 0;                ///< that is multiplied
  Ring<Tile::most_stages> next_; ///< the stage that follows
  bool next_is_full_ = false;
  WarpSums<Tile> sums_;
  unsigned left_[sets][Tile::fragments_m][4], right_[sets][Tile::fragments_n / 2][4];
};

#endif

} // namespace tessera::cuda::warp_mma
