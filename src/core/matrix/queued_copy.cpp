/// Copies of matrices in a queue, between host and device and within a device.

#include <new>
#include <string>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/queue.hpp>
#include <tessera/status.hpp>

#include "core/placement/placement.hpp"
#include "operand.hpp"
#include "queued_work.hpp"

namespace tessera::detail {
namespace {

void check_shapes(const char* function, const Operand& z, const Operand& x) {
  if (logical_rows(x) != logical_rows(z) || logical_cols(x) != logical_cols(z))
    throw InvalidArgument(std::string(function) + ": to is " + shape(z) + " and from is " + shape(x) +
                          "; both must have the same shape");
}

bool same_layout(const Operand& x, const Operand& z) { return x.op == z.op && x.storage->type() == z.storage->type(); }

/// Returns a new matrix of the size and layout of z with elements of this type.
Operand matrix_like(const Operand& z, DType type) {
  return {create_storage(z.rows, z.cols, type), 0, 0, z.rows, z.cols, z.op};
}

void copy_rows(ExecutionQueue& queue, CopyDirection direction, const Operand& z, Placed to, const Operand& x,
               Placed from) {
  if (!has_elements(x)) return;
  throw_if_failed(queue.executor().enqueue_copy(
      queue.queue(), {direction, to.data, bytes_of(to.ld, z), from.data, bytes_of(from.ld, x), bytes_of(x.cols, x),
                      static_cast<std::size_t>(x.rows)}));
}

/// Converts or transposes from the executor's memory to the executor's memory.
void convert(ExecutionQueue& queue, const Operand& x, const Operand& z) {
  const ContractArithmetic contract;
  const DType type = x.storage->type();
  const bool converts = type != z.storage->type();
  if (converts && x.op != z.op) {
    const Operand straight = matrix_like(z, type);
    convert(queue, x, straight);
    return convert(queue, straight, z);
  }
  QueuedWork work(queue);
  const Placed from = work.read(x), to = work.write(z, true);
  MapCall call;
  call.op = converts ? MapOp::Convert : x.op == z.op ? MapOp::Scale : MapOp::Transpose;
  call.type = z.storage->type();
  call.x_type = type;
  call.rows = z.rows;
  call.cols = z.cols;
  call.x = from.data;
  call.ldx = from.ld;
  call.z = to.data;
  call.ldz = to.ld;
  throw_if_failed(queue.executor().map(queue.queue(), call));
  work.done();
}

} // namespace

void copy(const Operand& x, const Operand& z, ExecutionQueue& queue) try {
  check_shapes("copy", z, x);
  if (overlap(x, z)) { // by way of a copy, because an element may be written before it is read
    Operand aside = matrix_like(x, x.storage->type());
    Operand straight = x;
    straight.op = aside.op = Op::None;
    copy(straight, aside, queue);
    aside.op = x.op;
    return copy(aside, z, queue);
  }
  Executor& executor = queue.executor();
  if (!same_layout(x, z) || executor.capabilities().host_memory) return convert(queue, x, z);
  QueuedWork work(queue);
  if (x.storage->resident_on() == nullptr) { // the elements are on the host, or come there
    const Placed to = work.write(z, true), from = work.read_on_host(x);
    copy_rows(queue, CopyDirection::In, z, to, x, from);
  } else {
    const Placed from = work.read(x), to = work.write(z, true);
    copy_rows(queue, CopyDirection::Within, z, to, x, from);
  }
  work.done();
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void copy_to_host(const Operand& x, const Operand& z, ExecutionQueue& queue) try {
  check_shapes("copy_to_host", z, x);
  Executor& executor = queue.executor();
  if (executor.capabilities().host_memory) return copy(x, z, queue);
  if (x.storage->resident_on() != &executor) { // the queue cannot do it
    ExecutionQueue on_host(place_elementwise({}));
    return copy(x, z, on_host);
  }
  if (!same_layout(x, z) || overlap(x, z)) {
    const Operand aside = matrix_like(z, z.storage->type());
    copy(x, aside, queue);
    return copy_to_host(aside, z, queue);
  }
  QueuedWork work(queue);
  const Placed from = work.read(x), to = work.write_on_host(z);
  copy_rows(queue, CopyDirection::Out, z, to, x, from);
  work.done();
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void prefetch(const Operand& x, ExecutionQueue& queue) try {
  QueuedWork work(queue);
  static_cast<void>(work.read(x));
  work.done();
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void prefetch_to_host(const Operand& x, ExecutionQueue& queue) try {
  if (queue.executor().capabilities().host_memory) return static_cast<void>(x.storage->host_read());
  QueuedWork work(queue);
  x.storage->fetch_in(queue);
  work.done();
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace tessera::detail
