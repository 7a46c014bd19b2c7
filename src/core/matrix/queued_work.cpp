#include "queued_work.hpp"

#include "operand.hpp"

namespace tessera::detail {

QueuedWork::QueuedWork(ExecutionQueue& queue) : queue_(queue), on_host_(queue.executor().capabilities().host_memory) {
  if (!on_host_) queue_.start_after_default_queue();
}

QueuedWork::~QueuedWork() {
  if (!done_ && !on_host_) static_cast<void>(queue_.queue().synchronize());
}

Placed QueuedWork::read(const Operand& x) {
  Used& used = used_.emplace_back(x, Use::Device);
  bool reads_host = false;
  const Placed placed = used.hold.emplace(used.operand, queue_.executor()).read_in(queue_, reads_host);
  if (reads_host) used.use = Use::Host;
  return placed;
}

Placed QueuedWork::write(const Operand& z, bool discard) {
  used_.emplace_back(z, Use::WrittenOnDevice);
  if (on_host_) return write_on(z, queue_.executor(), discard);
  return place_of(z, z.storage->write_in(queue_, discard && is_whole(z)));
}

Placed QueuedWork::read_on_host(const Operand& x) {
  used_.emplace_back(x, Use::Host);
  return place_of(x, {const_cast<void*>(x.storage->host_source(queue_)), x.storage->ld()});
}

Placed QueuedWork::write_on_host(const Operand& z) {
  used_.emplace_back(z, Use::WrittenOnHost);
  return place_of(z, {z.storage->host_target(queue_, is_whole(z)), z.storage->ld()});
}

void QueuedWork::done() {
  if (on_host_) {
    for (const Used& one : used_)
      if (one.use != Use::Device) written_on(one.operand, queue_.executor());
    return;
  }
  const std::shared_ptr<QueueMark> mark = queue_.mark();
  for (const Used& used : used_) {
    const Use use = used.use;
    Storage& storage = *used.operand.storage;
    if (use == Use::WrittenOnHost) {
      storage.note_arrival(queue_.queue(), mark);
      continue;
    }
    if (use == Use::WrittenOnDevice) storage.written_on(queue_.executor());
    storage.note(queue_.queue(), mark, use == Use::Host);
  }
  done_ = true;
}

} // namespace tessera::detail
