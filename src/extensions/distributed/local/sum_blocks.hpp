#pragma once

/// The blocks that a rank's sums are cut into, where a device has no memory for all of them.
///
/// A block's sums are in the device's memory while it is multiplied, and in the host's before and after that. Panels
/// are kept on the host for a group of segments, with which each block is multiplied in its turn. So panels are
/// broadcast once, whatever the blocks are. The device gets a group's panels of A once for each column of blocks and
/// its panels of B once for each row of blocks, and the sums cross to the device and back once for each group.
///
/// Source: out-of-core products as in beyond_memory/streamed/streamed_gemm.hpp; here sums travel, so that panels need
/// not come again.

#include <algorithm>

#include "core/gemm/block_sizes.hpp"
#include "extensions/beyond_memory/streamed/block_grid.hpp"

namespace tessera::distributed {

/// How the sums of a rank, as they lie in memory, are cut into blocks.
struct SumBlocks {
  Index rows = 0, cols = 0;             ///< of the sums
  Index block_rows = 0, block_cols = 0; ///< of a block; blocks at the edges are smaller

  /// Are there several blocks? Then two of them are in the device's memory at a time.
  bool several() const noexcept { return block_rows < rows || block_cols < cols; }
  /// Returns `count` rows cut into these blocks.
  tessera::detail::BlockGrid of_rows(Index count) const noexcept {
    return {count, cols, std::max<Index>(1, block_rows), std::max<Index>(1, block_cols)};
  }
  /// Returns blocks with sides of at most `side`, of about equal sizes.
  SumBlocks cut(Index side) const noexcept {
    const auto cut_side = [side](Index size) {
      return size <= side ? size : tessera::detail::evened(size, std::max<Index>(1, side));
    };
    return {rows, cols, cut_side(block_rows), cut_side(block_cols)};
  }
  friend bool operator==(const SumBlocks&, const SumBlocks&) = default;
};

} // namespace tessera::distributed
