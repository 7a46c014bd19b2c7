#include "slice_exchange.hpp"

#include "matrix/executor_memory.hpp"

namespace tessera::detail {

bool Meeting::wait() {
  std::unique_lock lock(mutex_);
  const std::size_t step = step_;
  if (++waiting_ == members_) {
    waiting_ = 0;
    ++step_;
    changed_.notify_all();
  }
  changed_.wait(lock, [&] { return step_ != step || stopped_; });
  return !stopped_;
}

void Meeting::stop() noexcept {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

SliceExchange::SliceExchange(std::span<Executor* const> devices, bool of_a)
    : members_(devices.size()), of_a_(of_a), meeting_(devices.size()) {
  for (std::size_t i = 0; i < devices.size(); ++i) members_[i].device = devices[i];
}

/// A few bytes of each device are copied to each other one.
Status SliceExchange::is_possible(std::span<Executor* const> devices, bool& possible) {
  constexpr std::size_t bytes = 64;
  possible = true;
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
      if (status.code == StatusCode::Rejected) possible = false;
      if (!status.ok()) return possible ? status : Status{};
    }
    if (Status status = queue.synchronize(); !status.ok()) return status;
  }
  return {};
}

Status SliceExchange::enter(std::size_t member, const std::array<char*, 2>& buffers) {
  Member& own = members_[member];
  own.buffers = buffers;
  own.steps = 0;
  for (auto* events : {&own.loaded, &own.gathered})
    for (std::unique_ptr<Event>& event : *events)
      if (Status status = own.device->create_event(event); !status.ok()) return status;
  return own.device->create_queue(own.queue);
}

RowRange SliceExchange::part(std::size_t member, Index rows) const noexcept {
  const auto begin = [&](std::size_t i) { return rows * static_cast<Index>(i) / static_cast<Index>(members_.size()); };
  return {begin(member), begin(member + 1) - begin(member)};
}

/// The other members have recorded their events of two steps ago: they do so before they meet in the step between.
Status SliceExchange::begin(std::size_t member, std::size_t buffer, Queue& copies) {
  if (members_[member].steps < 2) return {};
  for (const Member& other : members_)
    if (&other != &members_[member])
      if (Status status = copies.wait(*other.gathered[buffer]); !status.ok()) return status;
  return {};
}

Status SliceExchange::gather(std::size_t member, std::size_t buffer, const DeviceRectangle& slice, Queue& copies,
                             Queue& products) {
  Member& own = members_[member];
  ++own.steps;
  if (Status status = own.loaded[buffer]->record(copies); !status.ok()) return status;
  if (!meeting_.wait()) return {StatusCode::Rejected, "another device of the product has stopped"};
  for (std::size_t turn = 1; turn < members_.size(); ++turn) { // so that they do not all read from one
    const std::size_t number = (member + turn) % members_.size();
    const Member& other = members_[number];
    const RowRange rows = part(number, slice.rows);
    if (rows.count == 0 || slice.cols == 0) continue;
    const std::size_t offset = static_cast<std::size_t>(rows.first) * slice.pitch();
    if (Status status = own.queue->wait(*other.loaded[buffer]); !status.ok()) return status;
    const CopyCall call{.direction = CopyDirection::Within,
                        .to = own.buffers[buffer] + offset,
                        .to_pitch = slice.pitch(),
                        .from = other.buffers[buffer] + offset,
                        .from_pitch = slice.pitch(),
                        .width = static_cast<std::size_t>(slice.cols) * slice.element,
                        .rows = static_cast<std::size_t>(rows.count),
                        .source = other.device};
    if (Status status = own.device->enqueue_copy(*own.queue, call); !status.ok()) return status;
  }
  if (Status status = own.gathered[buffer]->record(*own.queue); !status.ok()) return status;
  for (const auto* event : {&own.loaded[buffer], &own.gathered[buffer]})
    if (Status status = products.wait(**event); !status.ok()) return status;
  return {};
}

} // namespace tessera::detail
