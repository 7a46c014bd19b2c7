#pragma once

/// Slices of an operand that all devices of a product need. Each device copies a part of a slice from the host, and the
/// other parts from the memories of the others, so that an element leaves the host's memory once: GPUs that copy from
/// it at the same time share its bandwidth, and from GPU to GPU is faster.
///
/// The devices go through the slices in step: first the copies of every member's part are enqueued, then each member
/// gathers the other parts. Each of the two may be done for all members at once. A slice is in one of two buffers of
/// each device, as in StreamedProduct.

#include <array>
#include <memory>
#include <span>
#include <vector>

#include <tessera/executor.hpp>

#include "core/executor/device_rectangle.hpp"
#include "slices.hpp"

namespace tessera::detail {

class SliceExchange {
 public:
  /// The devices exchange slices of A, or of B. They must outlive this object.
  SliceExchange(std::span<Executor* const> devices, bool of_a);

  /// Can each of the devices copy directly from the memory of each other one? The answer is tried out once.
  static Status is_possible(std::span<Executor* const> devices, bool& possible);

  bool is_of_a() const noexcept { return of_a_; }

  /// Enters a device's two buffers for slices.
  Status enter(std::size_t member, const std::array<char*, 2>& buffers);
  /// Returns which rows of a slice the member copies from the host.
  SlicePart part(std::size_t member, const DeviceRectangle& slice) const noexcept;
  /// Makes `copies` wait until no other device reads the member's part of the slice that is in the buffer.
  Status wait_for_readers(std::size_t member, std::size_t buffer, Queue& copies);
  /// The copy of the member's part is in `copies`.
  Status loaded(std::size_t member, std::size_t buffer, Queue& copies) {
    return members_[member].loaded[buffer]->record(copies);
  }
  /// Enqueues copies of the other members' parts, which are loaded. Work that `products` is given later finds the whole
  /// slice.
  Status gather(std::size_t member, std::size_t buffer, const DeviceRectangle& slice, Queue& products);

 private:
  struct Member {
    Executor* device = nullptr;
    std::array<char*, 2> buffers{};
    std::unique_ptr<Queue> queue;                           ///< of the copies from other devices
    std::array<std::unique_ptr<Event>, 2> loaded, gathered; ///< recorded after the copies into each buffer
  };

  std::vector<Member> members_;
  const bool of_a_;
};

} // namespace tessera::detail
