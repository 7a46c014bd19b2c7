/// A call's use of an operand in an executor's memory.

#include <algorithm>

#include <tessera/detail/storage.hpp>
#include <tessera/queue.hpp>
#include <tessera/status.hpp>

#include "operand.hpp"

namespace tessera::detail {

DeviceHold::~DeviceHold() {
  if (is_held_) x_.storage->let_go();
  if (copy_ != nullptr) executor_.free(copy_);
}

/// Returns memory for the operand's rows alone.
Placed DeviceHold::make_copy() {
  const Index ld = padded(x_.cols, x_.storage->type());
  throw_if_failed(executor_.allocate(std::max<std::size_t>(bytes_of(x_.rows * ld, x_), 1), copy_));
  return {copy_, ld};
}

Placed DeviceHold::read() {
  if (executor_.capabilities().host_memory) return place_of(x_, x_.storage->read_on(executor_));
  const Placed held = x_.storage->hold_on(executor_);
  is_held_ = held.data != nullptr;
  if (is_held_) return place_of(x_, held);
  const Placed from = place_of(x_, {const_cast<void*>(x_.storage->host_read()), x_.storage->ld()}), to = make_copy();
  if (has_elements(x_))
    throw_if_failed(executor_.copy_in(executor_.default_queue(), to.data, bytes_of(to.ld, x_), from.data,
                                      bytes_of(from.ld, x_), bytes_of(x_.cols, x_), static_cast<std::size_t>(x_.rows)));
  return to;
}

Placed DeviceHold::read_in(ExecutionQueue& queue, bool& reads_host) {
  reads_host = false;
  if (executor_.capabilities().host_memory) return read();
  const Placed held = x_.storage->hold_in(queue);
  is_held_ = held.data != nullptr;
  if (is_held_) return place_of(x_, held);
  reads_host = true;
  const Placed from = place_of(x_, {const_cast<void*>(x_.storage->host_source(queue)), x_.storage->ld()}),
               to = make_copy();
  if (has_elements(x_))
    throw_if_failed(executor_.enqueue_copy(
        queue.queue(), {CopyDirection::In, to.data, bytes_of(to.ld, x_), from.data, bytes_of(from.ld, x_),
                        bytes_of(x_.cols, x_), static_cast<std::size_t>(x_.rows)}));
  return to;
}

} // namespace tessera::detail
