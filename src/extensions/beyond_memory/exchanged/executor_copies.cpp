#include "executor_copies.hpp"

#include <tessera/backend/out_of_memory.hpp>

#include "core/base/host_memory.hpp"

namespace tessera::detail {

Status ExecutorCopies::prepare(std::size_t sources) {
  queues_of_sources_.resize(sources);
  return to_.create_queue(queue_);
}

/// A queue of a source that this object's thread alone uses.
Status ExecutorCopies::queue_of(Executor& source, std::size_t number, Queue*& queue) {
  std::unique_ptr<Queue>& own = queues_of_sources_[number];
  if (!own)
    if (Status status = source.create_queue(own); !status.ok()) return status;
  queue = own.get();
  return {};
}

Status ExecutorCopies::copy_by_host(const CopyCall& call, std::size_t number) {
  Queue* queue = nullptr;
  if (Status status = queue_of(*call.source, number, queue); !status.ok()) return status;
  const std::unique_ptr<void, decltype(&free_host)> aside(allocate_host(call.width * call.rows), &free_host);
  if (!aside) return out_of_memory("a copy between two devices, by way of the host", call.width * call.rows);
  Status status =
      call.source->copy_out(*queue, aside.get(), call.width, call.from, call.from_pitch, call.width, call.rows);
  if (!status.ok()) return status;
  return to_.copy_in(*queue_, call.to, call.to_pitch, aside.get(), call.width, call.width, call.rows);
}

Status ExecutorCopies::enqueue(const CopyCall& call, std::size_t number) {
  Executor& source = *call.source;
  if (source.capabilities().host_memory)
    return to_.copy_in(*queue_, call.to, call.to_pitch, call.from, call.from_pitch, call.width, call.rows);
  if (to_.capabilities().host_memory) {
    Queue* queue = nullptr;
    if (Status status = queue_of(source, number, queue); !status.ok()) return status;
    return source.copy_out(*queue, call.to, call.to_pitch, call.from, call.from_pitch, call.width, call.rows);
  }
  CopyCall direct = call;
  if (&source == &to_) direct.source = nullptr;
  Status status = to_.enqueue_copy(*queue_, direct);
  return status.code == StatusCode::Rejected ? copy_by_host(call, number) : status;
}

} // namespace tessera::detail
