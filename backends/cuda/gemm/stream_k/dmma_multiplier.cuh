#pragma once

/// How a stream_k block multiplies in f64: with the matrix instruction of dmma. stream_k_f64.cu describes the tiles.

#include "cuda/gemm/common/dmma.cuh"
#include "kernel.cuh"

namespace tessera::cuda::stream_k {

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
  __device__ static void store_by_rows(const VectorOperands<double>& x, Index row, Index col,
                                       const typename Shape::Sums& sums) {
    dmma_tiling::store_by_rows<Shape>(x, row, col, sums);
  }
};

template <class M>
struct Chained : M {
  static constexpr bool chained = true;
};

/// The tiles, in the order of the model's list.
namespace f64 {

using Large = DmmaMultiplier<dmma_tiling::Shape<4, 4, 2, 4, 32>, f64_large, 3>;
using Medium = DmmaMultiplier<dmma_tiling::Shape<2, 4, 4, 2, 32>, f64_medium, 4>;
using Square = DmmaMultiplier<dmma_tiling::Shape<2, 2, 2, 4, 32>, f64_square, 4>;
using Small = DmmaMultiplier<dmma_tiling::Shape<2, 2, 2, 2, 32>, f64_small, 4>;
using Flat = DmmaMultiplier<dmma_tiling::Shape<2, 2, 1, 4, 32>, f64_flat, 4>;
using Least = DmmaMultiplier<dmma_tiling::StepAhead<dmma_tiling::Shape<1, 2, 2, 2, 64>>, f64_least, 4>;

} // namespace f64

} // namespace tessera::cuda::stream_k
