#pragma once

/// Chooses how simd_direct computes a product: along which side of C its vectors lie, and how it gets them.

#include "cpu/gemm/common/direct_tile.hpp"

namespace tessera::cpu {

/// How tiles get vectors of B, the operand of the side along which vectors lie.
enum class VectorsOfB {
  InPlace,    ///< the elements lie side by side
  Transposed, ///< they lie along k, and each tile transposes them in registers
  Packed,     ///< they lie along k, and are packed into strips for all tiles
};

struct DirectPlan {
  bool swapped; ///< vectors lie along the rows of C: see DirectView
  VectorsOfB vectors;
  TileSize tile;
};

/// Returns the plan whose estimated time is least, on a core whose L2 holds `l2` bytes. It remembers the last plan of
/// the calling thread: choosing takes as long as a tile of a small product, and a caller's next product mostly has the
/// shape of the last one.
template <class T>
const DirectPlan& direct_plan(const GemmOperands<T>& x, const MicroKernel<T>& kernel, Index l2);

} // namespace tessera::cpu
