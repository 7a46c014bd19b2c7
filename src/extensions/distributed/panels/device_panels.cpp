#include "device_panels.hpp"

#include <utility>

namespace tessera::distributed {

Status DevicePanels::allocate(std::size_t slots, std::size_t slot_bytes, int ranks) {
  slot_bytes_ = slot_bytes;
  memory_ = std::make_unique<tessera::detail::ExecutorMemory>(executor_);
  if (bytes(slots, slot_bytes) == 0) return {};
  relays_.resize(static_cast<std::size_t>(ranks));
  for (Relay& relay : relays_) relay.reserve(ranks, slot_bytes);
  if (Status status = memory_->allocate(bytes(slots, slot_bytes)); !status.ok()) return status;
  if (Status status = executor_.create_queue(copies_); !status.ok()) return status;
  return executor_.default_queue().synchronize(); // MPI uses the memory outside of the executor's queues
}

void DevicePanels::keep(Status status) noexcept {
  if (failure_.ok()) failure_ = std::move(status);
}

void DevicePanels::put(char* to, const char* from, std::size_t from_pitch, std::size_t width,
                       std::size_t rows) noexcept {
  if (width > 0 && rows > 0) keep(executor_.copy_in(*copies_, to, width, from, from_pitch, width, rows));
}

void DevicePanels::put_from_device(char* to, const char* from, std::size_t from_pitch, std::size_t width,
                                   std::size_t rows) noexcept {
  if (width == 0 || rows == 0) return;
  keep(executor_.enqueue_copy(*copies_, {.direction = CopyDirection::Within,
                                         .to = to,
                                         .to_pitch = width,
                                         .from = from,
                                         .from_pitch = from_pitch,
                                         .width = width,
                                         .rows = rows}));
  finish_copies();
}

void DevicePanels::spread(char* to, std::size_t to_pitch, const char* from, std::size_t width,
                          std::size_t rows) noexcept {
  keep(executor_.enqueue_copy(*copies_, {.direction = CopyDirection::Within,
                                         .to = to,
                                         .to_pitch = to_pitch,
                                         .from = from,
                                         .from_pitch = width,
                                         .width = width,
                                         .rows = rows}));
}

void DevicePanels::finish_copies() noexcept { keep(copies_->synchronize()); }

Status DevicePanels::begin_broadcast(Communicator& ranks, char* data, std::size_t bytes, int root,
                                     Traffic& traffic) noexcept {
  return relays_[begun_++].begin(ranks, data, bytes, root, traffic);
}

Status DevicePanels::progress(Communicator& ranks, Traffic& traffic) noexcept {
  for (std::size_t i = 0; i < begun_; ++i)
    if (Status status = relays_[i].progress(ranks, traffic); !status.ok()) return status;
  return {};
}

Status DevicePanels::end_broadcasts(Communicator& ranks, Traffic& traffic) noexcept {
  for (std::size_t i = 0; i < begun_; ++i)
    if (Status status = relays_[i].receive(ranks, traffic); !status.ok()) return status;
  for (std::size_t i = 0; i < begun_; ++i)
    if (Status status = relays_[i].finish(ranks); !status.ok()) return status;
  begun_ = 0;
  return {};
}

} // namespace tessera::distributed
