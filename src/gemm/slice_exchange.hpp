#pragma once

/// Slices of an operand that all devices of a product need. Each device copies a part of a slice from the host, and the
/// other parts from the memories of the others, so that an element leaves the host's memory once: cards that copy from
/// it at the same time share its bandwidth, and from card to card is faster.
///
/// The devices go through the slices in step; a thread feeds each of them. A slice has one of two buffers of each
/// device, as in StreamedProduct. In each step a thread calls begin(), enqueues the copies of its part, and calls
/// gather().

#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <tessera/executor.hpp>

#include "matrix/device_rectangle.hpp"

namespace tessera::detail {

/// Threads that wait for one another, step after step, until one of them stops all.
class Meeting {
 public:
  explicit Meeting(std::size_t members) : members_(members) {}
  /// Waits for the other members. Returns false once stop() was called.
  bool wait();
  void stop() noexcept;

 private:
  const std::size_t members_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t waiting_ = 0, step_ = 0;
  bool stopped_ = false;
};

/// Rows of a slice as it is stored.
struct RowRange {
  Index first = 0, count = 0;
};

class SliceExchange {
 public:
  /// The devices exchange slices of A, or of B. They must outlive this object.
  SliceExchange(std::span<Executor* const> devices, bool of_a);

  /// Can each of the devices copy directly from the memory of each other one?
  static Status is_possible(std::span<Executor* const> devices, bool& possible);

  bool is_of_a() const noexcept { return of_a_; }
  std::size_t size() const noexcept { return members_.size(); }

  /// Enters a device's two buffers for slices. Each thread calls it before its first step.
  Status enter(std::size_t member, const std::array<char*, 2>& buffers);
  /// Returns which of the slice's rows the member copies from the host.
  RowRange part(std::size_t member, Index rows) const noexcept;
  /// Makes `copies`, the queue of the member's copies from the host, wait until no device reads the buffer any more.
  Status begin(std::size_t member, std::size_t buffer, Queue& copies);
  /// Waits until all members have enqueued the copies of their parts, and enqueues copies of the other parts. Work that
  /// `products` is given later finds the whole slice. The Status is Rejected once stop() was called.
  Status gather(std::size_t member, std::size_t buffer, const DeviceRectangle& slice, Queue& copies, Queue& products);
  /// Lets no member wait any longer, because one has failed.
  void stop() noexcept { meeting_.stop(); }

 private:
  struct Member {
    Executor* device = nullptr;
    std::array<char*, 2> buffers{};
    std::unique_ptr<Queue> queue;                           ///< of the copies from other devices
    std::array<std::unique_ptr<Event>, 2> loaded, gathered; ///< recorded behind the copies into each buffer
    Index steps = 0;
  };

  std::vector<Member> members_;
  const bool of_a_;
  Meeting meeting_;
};

} // namespace tessera::detail
