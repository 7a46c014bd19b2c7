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

/// A rectangle of a slice, as it is stored.
struct SlicePart {
  Index row = 0, col = 0, rows = 0, cols = 0;
};

/// What is multiplied at once: rows `block.row …` of op(A) by columns `block.col …` of op(B), k elements deep.
struct SliceStep {
  BlockOfC block;
  Index first = 0;   ///< the first k of the slices
  Index k = 0;       ///< depth of the slices
  bool last = false; ///< no slices of this block follow
  bool ends = false; ///< no block follows this one
  HostSlice a, b;
};

/// Delivers the slices of one executor's blocks, in ascending k, one block after the other.
class SliceSource {
 public:
  virtual ~SliceSource() = default;
  /// Gives the next slices, and waits until they are in host memory. They stay there until the next call, or longer if
  /// keeps_slices(). `given` is false after the last one.
  virtual Status next(SliceStep& step, bool& given) noexcept = 0;
  /// Do slices stay in host memory until the product is done?
  virtual bool keeps_slices() const noexcept { return false; }
};

/// Takes the blocks of C, rows after rows.
class BlockTarget {
 public:
  virtual ~BlockTarget() = default;
  /// Says where row `first` of the block and the rows below it are wanted in host memory. `rows` is how many there are;
  /// a target that takes fewer at a time lessens it. Waits until there is room.
  virtual Status place(const BlockOfC& block, Index first, Index& rows, void*& data, Index& ld) noexcept = 0;
  /// The rows of the last place() are there, or will be when the product is done if keeps_rows().
  virtual Status take(const BlockOfC& block, Index first, Index rows) noexcept = 0;
  /// Does the memory of place() belong to these rows until the product is done?
  virtual bool keeps_rows() const noexcept { return false; }
};

/// How deep slices are.
struct SliceDepths {
  Index first = 0;   ///< the first one
  Index later = 0;   ///< at least so deep are the others
  Index most = 0;    ///< the deepest one
  Index last = 0;    ///< the last one of a block, if there is a choice: C returns to the host while it is multiplied
  double growth = 1; ///< how much deeper a slice may be than the one before
};

/// Returns the call with this block as its C.
GemmCall call_of(const GemmCall& call, const BlockOfC& block);

/// Operands in host memory.
class HostSource final : public SliceSource {
 public:
  /// A product whose k or alpha is 0 has one slice a block, of depth 0.
  HostSource(const GemmCall& call, SharedBlocks& blocks, const SliceDepths& depths)
      : call_(call), blocks_(blocks), depths_(depths), depth_(depths.first) {}
  Status next(SliceStep& step, bool& given) noexcept override;
  bool keeps_slices() const noexcept override { return true; }

 private:
  Index depth(Index rest) const;

  const GemmCall& call_;
  SharedBlocks& blocks_;
  const SliceDepths depths_;
  Index depth_; ///< of the next slice, where k has much left
  BlockOfC block_;
  Index first_ = 0;
  bool in_block_ = false;
};

/// C in host memory.
class HostTarget final : public BlockTarget {
 public:
  explicit HostTarget(const GemmCall& call) : call_(call) {}
  Status place(const BlockOfC& block, Index first, Index& rows, void*& data, Index& ld) noexcept override;
  Status take(const BlockOfC&, Index, Index) noexcept override { return {}; }
  bool keeps_rows() const noexcept override { return true; }

 private:
  const GemmCall& call_;
};

} // namespace tessera::detail
