#pragma once

/// Where a streamed product takes its slices of A and B from, and where the blocks of C go: host memory, files, or
/// whatever else delivers rectangles in host memory.

#include <tessera/executor.hpp>

#include "block_grid.hpp"

namespace tessera::detail {

/// A rectangle of an operand in host memory, as the operand is stored: row-major, its rows `ld` elements apart.
struct HostSlice {
  const void* data = nullptr;
  Index ld = 0;
};

/// What is multiplied at once: rows `block.row …` of op(A) by columns `block.col …` of op(B), k elements deep.
struct SliceStep {
  BlockOfC block;
  Index first = 0;   ///< the first k of the slices
  Index k = 0;       ///< depth of the slices
  bool last = false; ///< no slices of this block follow
  HostSlice a, b;
};

/// Delivers the slices of one executor's blocks, in ascending k, one block after the other.
class SliceSource {
 public:
  virtual ~SliceSource() = default;
  /// Gives the next slices, and waits until they are in host memory. They stay there until the next call. `given` is
  /// false after the last one.
  virtual Status next(SliceStep& step, bool& given) noexcept = 0;
};

/// Takes the blocks of C, rows after rows.
class BlockTarget {
 public:
  virtual ~BlockTarget() = default;
  /// Says where row `first` of the block and the rows below it are wanted in host memory. `rows` is how many there are;
  /// a target that takes fewer at a time lessens it. Waits until there is room.
  virtual Status place(const BlockOfC& block, Index first, Index& rows, void*& data, Index& ld) noexcept = 0;
  /// The rows of the last place() are there.
  virtual Status take(const BlockOfC& block, Index first, Index rows) noexcept = 0;
};

/// Operands in host memory.
class HostSource final : public SliceSource {
 public:
  /// Slices are at most `depth` deep, and all of that if `whole_k`. A product whose k or alpha is 0 has one slice a
  /// block, of depth 0.
  HostSource(const GemmCall& call, SharedBlocks& blocks, Index depth, bool whole_k)
      : call_(call), blocks_(blocks), depth_(depth), in_first_block_(!whole_k) {}
  Status next(SliceStep& step, bool& given) noexcept override;

 private:
  const GemmCall& call_;
  SharedBlocks& blocks_;
  const Index depth_;
  BlockOfC block_;
  Index first_ = 0;
  bool in_block_ = false;
  bool in_first_block_; ///< whose slices are not as deep
};

/// C in host memory.
class HostTarget final : public BlockTarget {
 public:
  explicit HostTarget(const GemmCall& call) : call_(call) {}
  Status place(const BlockOfC& block, Index first, Index& rows, void*& data, Index& ld) noexcept override;
  Status take(const BlockOfC&, Index, Index) noexcept override { return {}; }

 private:
  const GemmCall& call_;
};

} // namespace tessera::detail
