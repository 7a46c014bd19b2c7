#pragma once

/// What a rank's sums and their panels take of a device's memory, and the blocks that follow from it.

#include <cstddef>

#include "extensions/distributed/panels/panels.hpp"
#include "local_product.hpp"
#include "sum_blocks.hpp"

namespace tessera::distributed {

/// Chooses the blocks of the sums, and how many panels are kept for them. The choice is this rank's own: panels come by
/// the same messages in the same order whatever it is.
class SumMemory {
 public:
  /// The facts of a product that decide, beside its panels.
  struct Facts {
    Executor* executor;
    bool is_complex;
    bool device_messages;
    bool layered; ///< all panels are kept, and each strip of the sums is multiplied with all of them
    Index steps;  ///< segments of k
  };

  /// `largest` are the sums whole, or in the strips that are handed on. What is chosen is the largest blocks that the
  /// device has memory for, if nothing else is in it. The panels are told how many of them to keep.
  SumMemory(const Facts& facts, const SumBlocks& largest, LocalProduct& local, Panels& a, Panels& b);

  const SumBlocks& blocks() const noexcept { return blocks_; }
  /// Returns how many segments are multiplied with one block before the next block takes its place.
  Index group() const noexcept { return group_; }
  /// Returns how many bytes of the device's memory sums and panels take.
  std::size_t device_bytes() const noexcept;

  /// Allocates the device's memory of the sums. Where it has less left, smaller blocks are chosen, and `changed` is
  /// set. The Status is OutOfMemory if it has none for the smallest ones.
  Status reserve(bool& changed);

 private:
  std::size_t memory() const noexcept { return facts_.executor->capabilities().memory_bytes; }
  /// Returns how many bytes are left to kernels where the sums take much of the memory.
  std::size_t left_to_kernels() const noexcept;
  void use(const SumBlocks& blocks) noexcept;
  /// Uses smaller blocks, for half of the device's memory or for half as much as before. Returns false if the blocks
  /// are the smallest ones already.
  bool take_less() noexcept;
  /// Returns the largest blocks whose local product takes at most `bytes` bytes, or the smallest ones.
  SumBlocks blocks_within(std::size_t bytes) const noexcept;
  /// Fails where the device does not have the memory that panels and kernels take besides the local product.
  Status see_room();
  Status no_room(const Status& status) const;

  const Facts facts_;
  const SumBlocks largest_;
  LocalProduct& local_;
  Panels &a_, &b_;
  SumBlocks blocks_;
  Index group_ = 0;
  std::size_t of_device_ = 0; ///< how much of the memory is made use of; 0: as much as the largest blocks take
};

} // namespace tessera::distributed
