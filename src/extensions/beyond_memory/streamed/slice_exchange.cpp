#include "slice_exchange.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "core/executor/executor_memory.hpp"

namespace tessera::detail {
namespace {

/// Which devices have copied from the memory of which others: executors live as long as the process.
class KnownPairs {
 public:
  using Pair = std::pair<const Executor*, const Executor*>;

  /// Are the answers for all pairs known? `possible` is false if one of them is no.
  bool know(std::span<Executor* const> devices, bool& possible) {
    const std::lock_guard lock(mutex_);
    possible = true;
    for (const Executor* to : devices)
      for (const Executor* from : devices) {
        if (to == from) continue;
        const auto found = pairs_.find({to, from});
        if (found == pairs_.end()) return false;
        possible &= found->second;
      }
    return true;
  }
  void add(const Pair& pair, bool possible) {
    const std::lock_guard lock(mutex_);
    pairs_[pair] = possible;
  }

 private:
  std::mutex mutex_;
  std::map<Pair, bool> pairs_;
};

KnownPairs& known_pairs() {
  static KnownPairs pairs;
  return pairs;
}

/// Copies a few bytes of each device to each other one.
Status try_all_pairs(std::span<Executor* const> devices) {
  constexpr std::size_t bytes = 64;
  std::vector<std::unique_ptr<ExecutorMemory>> memories;
  for (Executor* device : devices) {
    memories.push_back(std::make_unique<ExecutorMemory>(*device));
    if (Status status = memories.back()->allocate(2 * bytes); !status.ok()) return status;
    if (Status status = device->default_queue().synchronize(); !status.ok()) return status;
  }
  for (std::size_t to = 0; to < devices.size(); ++to) {
    Queue& queue = devices[to]->default_queue();
    for (std::size_t from = 0; from < devices.size(); ++from) {
      if (to == from) continue;
      const CopyCall call{.direction = CopyDirection::Within,
                          .to = static_cast<char*>(memories[to]->data()) + bytes,
                          .to_pitch = bytes,
                          .from = memories[from]->data(),
                          .from_pitch = bytes,
                          .width = bytes,
                          .rows = 1,
                          .source = devices[from]};
      Status status = devices[to]->enqueue_copy(queue, call);
      if (!status.ok() && status.code != StatusCode::Rejected) return status;
      known_pairs().add({devices[to], devices[from]}, status.ok());
    }
    if (Status status = queue.synchronize(); !status.ok()) return status;
  }
  return {};
}

} // namespace

SliceExchange::SliceExchange(std::span<Executor* const> devices, bool of_a) : members_(devices.size()), of_a_(of_a) {
  for (std::size_t i = 0; i < devices.size(); ++i) members_[i].device = devices[i];
}

Status SliceExchange::is_possible(std::span<Executor* const> devices, bool& possible) {
  if (known_pairs().know(devices, possible)) return {};
  Status status = try_all_pairs(devices);
  if (status.ok()) known_pairs().know(devices, possible);
  return status;
}

Status SliceExchange::enter(std::size_t member, const std::array<char*, 2>& buffers) {
  Member& own = members_[member];
  own.buffers = buffers;
  for (auto* events : {&own.loaded, &own.gathered})
    for (std::unique_ptr<Event>& event : *events)
      if (Status status = own.device->create_event(event); !status.ok()) return status;
  return own.device->create_queue(own.queue);
}

SlicePart SliceExchange::part(std::size_t member, const DeviceRectangle& slice) const noexcept {
  const auto begin = [&](std::size_t i) {
    return slice.rows * static_cast<Index>(i) / static_cast<Index>(members_.size());
  };
  return {begin(member), 0, begin(member + 1) - begin(member), slice.cols};
}

Status SliceExchange::wait_for_readers(std::size_t member, std::size_t buffer, Queue& copies) {
  for (const Member& other : members_)
    if (&other != &members_[member])
      if (Status status = copies.wait(*other.gathered[buffer]); !status.ok()) return status;
  return {};
}

Status SliceExchange::gather(std::size_t member, std::size_t buffer, const DeviceRectangle& slice, Queue& products) {
  Member& own = members_[member];
  for (std::size_t turn = 1; turn < members_.size(); ++turn) { // so that they do not all read from one
    const std::size_t number = (member + turn) % members_.size();
    const Member& other = members_[number];
    const SlicePart part = this->part(number, slice);
    if (part.rows == 0 || part.cols == 0) continue;
    const std::size_t offset = static_cast<std::size_t>(part.row) * slice.pitch();
    if (Status status = own.queue->wait(*other.loaded[buffer]); !status.ok()) return status;
    const CopyCall call{.direction = CopyDirection::Within,
                        .to = own.buffers[buffer] + offset,
                        .to_pitch = slice.pitch(),
                        .from = other.buffers[buffer] + offset,
                        .from_pitch = slice.pitch(),
                        .width = static_cast<std::size_t>(part.cols) * slice.element,
                        .rows = static_cast<std::size_t>(part.rows),
                        .source = other.device};
    if (Status status = own.device->enqueue_copy(*own.queue, call); !status.ok()) return status;
  }
  if (Status status = own.gathered[buffer]->record(*own.queue); !status.ok()) return status;
  for (const auto* event : {&own.loaded[buffer], &own.gathered[buffer]})
    if (Status status = products.wait(**event); !status.ok()) return status;
  return {};
}

} // namespace tessera::detail
