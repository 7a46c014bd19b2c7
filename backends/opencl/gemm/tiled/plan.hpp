#pragma once

/// How the tiled kernel computes a product on a device: the tile, which operands are packed, and whether k is split.
///
/// Source: Low, Igual, Smith, Quintana-Ortí: "Analytical modeling is enough for high-performance BLIS" (2016): sizes
/// follow from the device's description, and nothing is timed.

#include <tessera/backend/kernel.hpp>

#include "opencl/device/device.hpp"

namespace tessera::opencl {

/// How a kernel reads its left operand.
enum class LeftForm : int {
  Packed,  ///< panels of rows, made by pack_panels
  Strided, ///< where it is
};

/// How a kernel reads its right operand.
enum class RightForm : int {
  Packed, ///< panels of columns, made by pack_panels
  Rows,   ///< where it is: its rows are contiguous
  Staged, ///< copied to private memory, a few steps of k at a time
};

/// How the segments of k become one sum; register_tiles.cl has the same numbers.
enum class SegmentWay : int {
  Whole = 0,  ///< each work-item computes all segments
  Split = 1,  ///< work-items share out the segments, whose sums another launch adds
  InTurn = 2, ///< a launch for each segment goes on with the sums of the ones before
};

/// The rows and vectors of C that a work-item computes.
struct RegisterTile {
  int rows = 1;
  int vectors = 1;
};

struct TilePlan {
  bool turned = false; ///< computes Cᵀ := op(B)ᵀ·op(A)ᵀ, so that vectors lie along the rows of C's transpose
  int width = 4;       ///< elements of a vector
  RegisterTile tile;
  LeftForm left = LeftForm::Packed;
  RightForm right = RightForm::Packed;
  Index segments = 1;
  SegmentWay way = SegmentWay::Whole;

  int columns() const noexcept { return tile.vectors * width; }
};

/// Plans a product, or a batch of `count` products of one shape, which packs nothing. Without memory for copies a plan
/// packs nothing either, and splits no k; it is slower, and needs no scratch memory.
TilePlan plan_tiles(const Device& device, const GemmCall& call, Index count, bool with_memory) noexcept;

} // namespace tessera::opencl
