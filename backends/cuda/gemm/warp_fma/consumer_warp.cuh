#pragma once

/// A consumer warp: it reads its rows and columns of a tile from the stages, and adds their products up. Each result is
/// one chain of FMAs, four cycles each, so that the warp does little else.

#include "panels.cuh"
#include "params.cuh"

namespace tessera::cuda::warp_fma {

#if __CUDA_ARCH__ >= 800

using panel_ring::Barriers;
using panel_ring::Work;

/// The sums of a lane.
template <class T, class Tile>
struct LaneSums {
  static constexpr int rows = Tile::lane_rows, columns = Tile::lane_columns;
  static constexpr int vector = std::min<int>(16 / sizeof(T), rows* columns); ///< sums that are sent at once
  T at[rows * columns];

  __device__ void set(T value) {
#pragma unroll
    for (T& x : at) x = value;
  }
  /// Calls f for up to 16 bytes at a time, with their number.
  template <class F>
  __device__ void each_vector(F f) {
#pragma unroll
    for (int v = 0; v < rows * columns / vector; ++v) f(*reinterpret_cast<T(*)[vector]>(at + v * vector), v);
  }
  /// Adds the sums of the segment that follows.
  __device__ void add(const LaneSums& next) {
#pragma unroll
    for (int e = 0; e < rows * columns; ++e) at[e] = at[e] + next.at[e];
  }
};

/// A warp's part of a tile. It multiplies a vector along k while it reads the ones that follow.
template <class T, class Tile, class Rows, class Columns>
class ConsumerWarp {
  static constexpr int vector = Tile::vector, vectors = depth / vector; ///< elements of one; of a panel, along k
  static constexpr int sets = Tile::sets, ahead = sets / 2;
  static_assert(vectors % sets == 0);

 public:
  using Sums = LaneSums<T, Tile>;

  __device__ ConsumerWarp(int stages, unsigned shared, const Barriers<Tile::most_stages>& barriers, const Rows& rows,
                          const Columns& columns, int lane)
      : shared_(shared), stages_(stages), barriers_(barriers), a_(rows), b_(columns), lane_(lane) {}

  /// Adds up the products of `left` panels; each `of_segment` are one chain.
  __device__ void add_products(int left, int of_segment, Sums& total) {
    barriers_.wait_until_full(now_);
#pragma unroll
    for (int v = 0; v < ahead; ++v) read(shared_, v, v);
    next_.advance(stages_);
    if (left > 1) barriers_.wait_until_full(next_);
    while (left > 0) {
      sums_.set(0);
      int here = left < of_segment ? left : of_segment;
      left -= here;
#pragma unroll 1
      for (; here > 0; --here) {
        const bool later_is_full = multiply_panel();
        if (left + here > 2 && !later_is_full) [[unlikely]]
          barriers_.wait_until_full(next_);
      }
      total.add(sums_);
    }
  }

 private:
  /// Multiplies a panel, and reads the first vectors of the next one; where none follows, it reads what is there, which
  /// is not multiplied. There is no branch in it, so that the compiler mixes reads and products. Returns whether the
  /// panel after the next one, which is then next_, is there.
  __device__ bool multiply_panel() {
    const unsigned panel = shared_ + now_.stage * Tile::stage_bytes, next = shared_ + next_.stage * Tile::stage_bytes;
    const int stage = now_.stage;
    now_ = next_;
    next_.advance(stages_);
    bool later_is_full = false;
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      if (v == vectors / 2) later_is_full = barriers_.is_full(next_); // the answer takes a while
      if (v + ahead < vectors) read(panel, v + ahead, (v + ahead) % sets);
      // Vector v - 1 has left its set to a vector of the next panel. The last products run while these are read.
      if (const int i = v - 1 - (vectors - sets); i >= 0 && i < ahead) read(next, i, i);
      multiply(v % sets);
    }
    barriers_.release(stage, lane_);
    return later_is_full;
  }
  __device__ void read(unsigned panel, int v, int set) {
    a_.read(panel, v, left_[set]);
    b_.read(panel + Tile::a_bytes, v, right_[set]);
  }
  __device__ void multiply(int set) {
#pragma unroll
    for (int p = 0; p < vector; ++p)
#pragma unroll
      for (int i = 0; i < Tile::lane_rows; ++i)
#pragma unroll
        for (int j = 0; j < Tile::lane_columns; ++j) {
          // To and fro, so that each FMA shares an operand with the FMA before: the register file reads two a cycle.
          const int there = i % 2 == 0 ? j : Tile::lane_columns - 1 - j;
          T& sum = sums_.at[i * Tile::lane_columns + there];
          sum = fused(left_[set][i][p], right_[set][there][p], sum);
        }
  }

  const unsigned shared_;
  const int stages_;
  const Barriers<Tile::most_stages> barriers_;
  const Rows a_;
  const Columns b_;
  const int lane_;
  Ring<Tile::most_stages> now_, next_; ///< the stage that is multiplied, and the one that follows
  Sums sums_;
  T left_[sets][Tile::lane_rows][vector], right_[sets][Tile::lane_columns][vector];
};

#endif

} // namespace tessera::cuda::warp_fma
