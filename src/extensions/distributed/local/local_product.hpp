#pragma once

/// The products of one rank: its part of the sums, in any executor's memory.

#include <array>
#include <memory>

#include <tessera/executor.hpp>
#include <tessera/running_sums.hpp>

#include "core/executor/device_rectangle.hpp"
#include "core/executor/executor_memory.hpp"
#include "extensions/distributed/panels/panels.hpp"
#include "sum_blocks.hpp"

namespace tessera::distributed {

/// Adds panel products X·Yᵀ to the sums, one segment of k after the other: x is rows×k, y is cols×k. The sums are in
/// host memory without gaps, row by row; sums of 16-bit elements are f32. With a device they go through its memory,
/// block by block. Panels that are not there are copied there while the device multiplies the segment before, and the
/// sums of one block come and go while another block is multiplied. The host goes on meanwhile if panels and sums are
/// in memory that the executor's copies do not wait for.
class LocalProduct {
 public:
  /// Which panels come in the executor's memory.
  struct OnDevice {
    bool x = false, y = false;
  };
  /// `most_k` is the longest segment.
  LocalProduct(Executor& executor, tessera::detail::DistributedType type, Index most_k, int threads,
               OnDevice on_device);

  /// Returns how many bytes of the device's memory sums in these blocks and their panels take.
  std::size_t device_bytes(const SumBlocks& blocks) const noexcept;
  /// Allocates the device's memory for these blocks.
  Status allocate(const SumBlocks& blocks);
  /// Sets where the sums are on the host; null if they stay in the device's memory. allocate() must have been called.
  void set_sums(char* sums) noexcept { host_sums_ = sums; }

  /// Begins with a block of the sums. `has_sums`: a part of k was added to them before.
  Status begin_block(const tessera::detail::BlockOfC& block, bool has_sums);
  /// Sets the panels of the next segment.
  Status begin_segment(const Panel& x, const Panel& y, Index k);
  /// Multiplies rows of the block, from its row `first` on.
  Status multiply(Index first, Index count);
  /// Ends a segment that was multiplied for all rows of the block.
  Status end_segment();
  /// Waits until the panels of all segments but the last one that ended were read.
  Status wait_for_earlier();
  /// Waits until the panels of all segments that began were copied to the device.
  Status wait_for_copies();
  /// Enqueues that the block's sums are brought to the host.
  Status end_block();
  /// Waits until the sums of all blocks that ended are on the host.
  Status wait_for_sums();
  /// Returns the sums in the device's memory, if they are in one block.
  RunningSums sums_on_device() const noexcept { return {device_sums_.data(), sums_layout(blocks_).ld(), false}; }
  /// Waits for all copies and products, so that the panels' memory may be given to others.
  Status finish();

 private:
  bool on_host() const noexcept { return executor_.capabilities().host_memory; }
  /// Returns how a block's sums lie in a device's memory.
  tessera::detail::DeviceRectangle sums_layout(const SumBlocks& blocks) const noexcept {
    return {blocks.block_rows, blocks.block_cols, sum_};
  }
  bool is_empty() const noexcept { return block_.rows == 0 || block_.cols == 0; }
  /// Returns the copy of the block's sums between the host and the device.
  CopyCall copy_of_sums(CopyDirection direction) const noexcept;
  Status multiply_complex(const GemmCall& call, char* sums);
  Status copy_in(Panel& panel, char* memory, Index outer, Index k);
  std::size_t panel_bytes(Index outer) const noexcept;
  std::size_t x_bytes(const SumBlocks& of) const noexcept { return on_device_.x ? 0 : panel_bytes(of.block_rows); }
  std::size_t y_bytes(const SumBlocks& of) const noexcept { return on_device_.y ? 0 : panel_bytes(of.block_cols); }

  Executor& executor_;
  tessera::detail::DistributedType type_;
  std::size_t element_, sum_; ///< bytes of an element of a panel, and of a sum
  Index most_k_;
  int threads_;
  OnDevice on_device_;
  SumBlocks blocks_;

  char* host_sums_ = nullptr;
  tessera::detail::ExecutorMemory device_sums_, device_panels_;
  std::unique_ptr<Queue> copies_, fetches_; ///< to the device, and from it
  /// Two slots for the panels of a segment, and what is recorded when they were copied and when the device has
  /// multiplied them.
  std::array<std::unique_ptr<Event>, 2> copied_, multiplied_;
  std::array<bool, 2> in_use_{};
  Event* last_copied_ = nullptr; ///< recorded after the last copies that were enqueued; null if they were waited for
  std::size_t slot_ = 0;
  tessera::detail::BlockOfC block_; ///< the block in use
  std::size_t buffer_ = 0;          ///< the half of device_sums_ where it is
  char* sums_ = nullptr;            ///< its first sum where it is added up
  Index ld_ = 0;                    ///< of these sums
  /// What is recorded for each half of device_sums_: when the sums of a block have come, when they are complete, and
  /// when they are on the host.
  std::array<std::unique_ptr<Event>, 2> came_, complete_, fetched_;
  std::array<bool, 2> coming_{}, leaving_{};
  Index k_ = 0;
  bool has_sums_ = false;
  Panel x_, y_; ///< the block's part of the segment's panels
};

} // namespace tessera::distributed
