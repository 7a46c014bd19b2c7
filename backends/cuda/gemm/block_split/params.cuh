#pragma once

/// What the kernels compute: the product, a block's tile of it, and the sums that are kept between the two kernels.

#include "cuda/gemm/common/emulated_fp16x3/block_split_plan.hpp"
#include "cuda/gemm/common/emulated_fp16x3/segments.hpp"
#include "cuda/gemm/common/operands.cuh"
#include "cuda/gemm/common/raster_order.hpp"

namespace tessera::cuda::block_split {

constexpr int threads = 512;               ///< of a block; all of them read and split
constexpr int multiplying = 256;           ///< threads that multiply and have results: two warpgroups
constexpr int group_columns = 32;          ///< columns of a warpgroup, which has all 64 rows of the tile
constexpr int own = group_columns / 2;     ///< results of a thread that multiplies
constexpr int steps = wgmma::chunk_k / 16; ///< of the matrix units in a chunk
static_assert(multiplying / 128 * group_columns == tile_lines && own * multiplying == tile_lines * tile_lines);

/// The sums between the kernels. A plane holds the sums of the first piece of a segment; or the sums of one chunk
/// of another piece, from which the scales of its rows and columns are still to be taken.
struct Planes {
  float* sums;                         ///< [plane][tile][vector of four][thread]; null if blocks store C themselves
  float *row_factors, *column_factors; ///< [plane][row or column of all tiles]: what undoes their scales
  Index size, rows, columns;           ///< of a plane
  int count;
};

struct Product {
  StridedOperands<float> whole;
  Pieces pieces;
  bool a_vectors, b_vectors; ///< lines of the operand, as stored, can be read by vectors of 16 bytes
  bool c_pairs;              ///< C can be written two columns at once
  RasterOrder order;         ///< of tiles
  Planes planes;
};

} // namespace tessera::cuda::block_split
