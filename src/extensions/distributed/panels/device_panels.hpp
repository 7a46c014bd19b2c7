#pragma once

/// Panels in the memory of the executor that multiplies, which MPI reads and writes there.

#include <cstddef>
#include <memory>
#include <vector>

#include <tessera/executor.hpp>

#include "core/executor/executor_memory.hpp"
#include "relay.hpp"

namespace tessera::distributed {

/// The memory of one operand's panels, the copies from and to it, and its broadcasts. A copy that fails is remembered,
/// and the broadcasts go on, so that no other rank waits for this one.
class DevicePanels {
 public:
  explicit DevicePanels(Executor& executor) : executor_(executor) {}

  /// Returns how many bytes of the executor's memory allocate() takes.
  static std::size_t bytes(std::size_t slots, std::size_t slot_bytes) noexcept { return slots * pitch(slot_bytes); }
  /// Allocates slots, and makes room for the broadcasts of a step; there are at most as many as ranks.
  Status allocate(std::size_t slots, std::size_t slot_bytes, int ranks);
  /// Returns a slot's memory.
  char* slot(std::size_t number) const noexcept {
    return static_cast<char*>(memory_->data()) + number * pitch(slot_bytes_);
  }

  /// Copies `rows` rows of `width` bytes from the host, to be side by side. The copy is complete on return.
  void put(char* to, const char* from, std::size_t from_pitch, std::size_t width, std::size_t rows) noexcept;
  /// Copies such rows from other places of the executor's memory. The copy is complete on return.
  void put_from_device(char* to, const char* from, std::size_t from_pitch, std::size_t width,
                       std::size_t rows) noexcept;
  /// Copies rows that are side by side to other places of the executor's memory.
  void spread(char* to, std::size_t to_pitch, const char* from, std::size_t width, std::size_t rows) noexcept;
  /// Waits until the copies are complete.
  void finish_copies() noexcept;

  /// Begins a broadcast. The bytes must have been put before.
  Status begin_broadcast(Communicator& ranks, char* data, std::size_t bytes, int root, Traffic& traffic) noexcept;
  /// Lets MPI go on with the broadcasts.
  Status progress(Communicator& ranks, Traffic& traffic) noexcept;
  /// Waits for the broadcasts.
  Status end_broadcasts(Communicator& ranks, Traffic& traffic) noexcept;
  /// Are broadcasts under way?
  bool pending() const noexcept { return begun_ > 0; }

  /// Returns the first failure of a copy.
  const Status& failure() const noexcept { return failure_; }
  /// Leaves the memory to the process for good, because MPI may still write to it.
  void abandon() noexcept { static_cast<void>(memory_.release()); }

 private:
  static std::size_t pitch(std::size_t bytes) noexcept { return (bytes + 255) / 256 * 256; }
  void keep(Status status) noexcept;

  Executor& executor_;
  std::unique_ptr<tessera::detail::ExecutorMemory> memory_;
  std::unique_ptr<Queue> copies_;
  std::size_t slot_bytes_ = 0;
  std::vector<Relay> relays_;
  std::size_t begun_ = 0; ///< relays that are under way
  Status failure_;
};

} // namespace tessera::distributed
