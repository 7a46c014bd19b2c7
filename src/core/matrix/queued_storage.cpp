/// The part of a matrix's storage that knows of queues: work that is enqueued and not yet done.

#include <algorithm>

#include <tessera/detail/storage.hpp>
#include <tessera/queue.hpp>
#include <tessera/status.hpp>

#include "core/backends/registry.hpp"

namespace tessera::detail {
namespace {

std::size_t bytes(Index elements, DType type) { return static_cast<std::size_t>(elements) * size_of(type); }

} // namespace

/// Waits for the queues that use the host's elements. The mutex is held.
Status Storage::wait_for_host_work() noexcept {
  Status outcome;
  for (const Pending& one : pending_) {
    if (!one.uses_host || one.done->reached) continue;
    Status status = one.done->event->synchronize();
    if (outcome.ok()) outcome = std::move(status);
  }
  std::erase_if(pending_, [](const Pending& one) { return one.uses_host; });
  host_in_use_ = false;
  return outcome;
}

void Storage::settle_host() {
  const std::lock_guard lock(mutex_);
  const bool arrived = arriving_.exchange(false);
  throw_if_failed(wait_for_host_work());
  if (arrived) host_current_.store(true, std::memory_order_release);
}

/// Makes the queue's later work start after all pending work. The mutex is held.
void Storage::order_after_pending(Queue& queue) {
  std::erase_if(pending_, [](const Pending& one) { return one.done->reached && !one.uses_host; });
  for (const Pending& one : pending_)
    if (one.queue != &queue && !one.done->reached) throw_if_failed(queue.wait(*one.done->event));
  // Every ExecutionQueue starts its work after the default queue's, so what the default queue waits for is ordered.
  if (executor_ != nullptr && &queue == &executor_.load()->default_queue())
    std::erase_if(pending_, [](const Pending& one) { return !one.uses_host; });
}

void Storage::note(const Queue& queue, std::shared_ptr<QueueMark> done, bool uses_host) noexcept {
  const std::lock_guard lock(mutex_);
  note_locked(queue, std::move(done), uses_host && copies_are_deferred());
}

/// place_in() and host_target() have made room for two more.
void Storage::note_locked(const Queue& queue, std::shared_ptr<QueueMark> done, bool uses_host) noexcept {
  std::erase_if(pending_, [&](const Pending& one) { return one.queue == &queue && one.uses_host == uses_host; });
  pending_.push_back({&queue, std::move(done), uses_host});
  if (uses_host) host_in_use_ = true;
}

/// Moves the newest elements from another executor of the same kind directly. Returns false if that is not possible.
bool Storage::take_from_other_executor(ExecutionQueue& queue, Stay stay) {
  Executor& executor = queue.executor();
  const std::lock_guard lock(mutex_);
  if (!device_current_ || executor_ == nullptr || executor_ == &executor || is_lost(*executor_)) return false;
  if (!may_come_to(executor, stay)) return false;
  if (executor_.load()->capabilities().backend != executor.capabilities().backend) return false;
  Executor& source = *executor_;
  std::unique_ptr<Event> given;
  throw_if_failed(source.create_event(given));
  throw_if_failed(given->record(source.default_queue()));
  order_after_pending(queue.queue());
  throw_if_failed(queue.queue().wait(*given));
  pending_.reserve(pending_.size() + 2);
  left_.reserve(left_.size() + 1);

  void* memory = nullptr;
  const std::size_t pitch = bytes(device_ld_, type_);
  throw_if_failed(executor.allocate(std::max<std::size_t>(pitch * static_cast<std::size_t>(rows_), 1), memory));
  CopyCall call{.direction = CopyDirection::Within, .to = memory, .to_pitch = pitch, .from = device_};
  call.from_pitch = pitch;
  call.width = bytes(cols_, type_);
  call.rows = static_cast<std::size_t>(rows_);
  call.source = &source;
  Status status = rows_ == 0 || cols_ == 0 ? Status{} : executor.enqueue_copy(queue.queue(), call);
  std::shared_ptr<QueueMark> copied;
  if (status.ok()) try {
      copied = queue.mark();
      status = source.default_queue().wait(*copied->event); // the memory is freed after the copy
    } catch (...) {
      static_cast<void>(queue.queue().synchronize());
      executor.free(memory);
      throw;
    }
  if (!status.ok()) {
    executor.free(memory);
    if (status.code == StatusCode::Rejected) return false;
    throw_if_failed(status);
  }
  give_up_memory();
  device_ = memory;
  executor_ = &executor;
  is_viewed_ = false;
  note_locked(queue.queue(), std::move(copied), false);
  return true;
}

/// Returns null where the matrix must not come.
Placed Storage::place_in(ExecutionQueue& queue, bool discard, Stay stay) {
  Executor& executor = queue.executor();
  for (;;) {
    // Where another device has the newest elements, the host must hold them until a write is done, as in write_on().
    if (resident_on() != &executor && (!discard || device_current_) && !take_from_other_executor(queue, stay))
      static_cast<void>(host_source(queue));
    const std::lock_guard lock(mutex_);
    if (!may_come_to(executor, stay)) return {};
    // Another thread may have moved them meanwhile; a copy to the host that is under way is waited for by the queue.
    if (!discard && !has_elements_for(executor) && !arriving_) continue;
    order_after_pending(queue.queue());
    pending_.reserve(pending_.size() + 2);
    make_room(executor);
    if (!device_current_ && !discard) {
      if (rows_ > 0 && cols_ > 0) {
        throw_if_failed(executor.enqueue_copy(
            queue.queue(), {CopyDirection::In, device_, bytes(device_ld_, type_), host_, bytes(ld_, type_),
                            bytes(cols_, type_), static_cast<std::size_t>(rows_)}));
        note_locked(queue.queue(), queue.mark(), copies_are_deferred());
      }
      device_current_.store(true, std::memory_order_release);
    }
    note_stay(executor, stay);
    return {device_, device_ld_};
  }
}

Placed Storage::write_in(ExecutionQueue& queue, bool discard) { return place_in(queue, discard, Stay::Free); }
Placed Storage::hold_in(ExecutionQueue& queue) { return place_in(queue, false, Stay::Held); }

void Storage::fetch_in(ExecutionQueue& queue) {
  if (host_current_ || arriving_) return;
  if (resident_on() != &queue.executor()) return static_cast<void>(host_read());
  std::unique_lock lock(mutex_);
  if (host_current_ || arriving_) return; // another thread was faster
  if (executor_ != &queue.executor()) {   // another thread has moved the elements
    lock.unlock();
    return static_cast<void>(host_read());
  }
  allocate_host();
  order_after_pending(queue.queue());
  pending_.reserve(pending_.size() + 2);
  if (rows_ > 0 && cols_ > 0)
    throw_if_failed(queue.executor().enqueue_copy(
        queue.queue(), {CopyDirection::Out, host_, bytes(ld_, type_), device_, bytes(device_ld_, type_),
                        bytes(cols_, type_), static_cast<std::size_t>(rows_)}));
  note_locked(queue.queue(), queue.mark(), true);
  arriving_ = true;
}

const void* Storage::host_source(ExecutionQueue& queue) {
  if (!arriving_) host_read(); // else the copy to the host is pending, and the queue comes after it
  const std::lock_guard lock(mutex_);
  order_after_pending(queue.queue());
  pending_.reserve(pending_.size() + 2);
  return host_;
}

void* Storage::host_target(ExecutionQueue& queue, bool whole) {
  if (!whole) host_read();
  const std::lock_guard lock(mutex_);
  allocate_host();
  order_after_pending(queue.queue());
  pending_.reserve(pending_.size() + 2);
  return host_;
}

void Storage::note_arrival(const Queue& queue, std::shared_ptr<QueueMark> done) noexcept {
  const std::lock_guard lock(mutex_);
  note_locked(queue, std::move(done), true);
  arriving_ = true;
  host_current_.store(false, std::memory_order_release);
  device_current_.store(false, std::memory_order_release);
}

} // namespace tessera::detail
