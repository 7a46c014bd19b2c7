/// The methods of an executor that programs call and a backend implements under the name with `run_`. They tell the
/// tools of the work.

#include <tessera/executor.hpp>

#include <new>

#include <tessera/backend/out_of_memory.hpp>

#include "matrix/host_memory.hpp"
#include "tools/describe.hpp"
#include "tools/listeners.hpp"

namespace tessera {

using tools::anyone_listens;
using tools::describe;
using tools::Kind;
using tools::observe;

Status Executor::allocate(std::size_t bytes, void*& memory) noexcept {
  if (!anyone_listens()) [[likely]]
    return run_allocate(bytes, memory);
  tools::Observation observation(tools::describe_memory(*this, Kind::Allocate, "allocate", bytes, nullptr));
  Status status = run_allocate(bytes, memory);
  observation.allocated(memory);
  observation.end(status.code);
  return status;
}

void Executor::free(void* memory) noexcept {
  if (!anyone_listens() || memory == nullptr) [[likely]]
    return run_free(memory);
  tools::Observation observation(tools::describe_memory(*this, Kind::Free, "free", 0, memory));
  run_free(memory);
  observation.end(StatusCode::Ok);
}

Status Executor::copy_in(Queue& queue, void* device, std::size_t device_pitch, const void* host, std::size_t host_pitch,
                         std::size_t width, std::size_t rows) noexcept {
  const auto run = [&] { return run_copy_in(queue, device, device_pitch, host, host_pitch, width, rows); };
  if (!anyone_listens()) [[likely]]
    return run();
  return observe(tools::describe_copy(*this, queue, Kind::CopyIn, width, rows), run);
}

Status Executor::copy_out(Queue& queue, void* host, std::size_t host_pitch, const void* device,
                          std::size_t device_pitch, std::size_t width, std::size_t rows) noexcept {
  const auto run = [&] { return run_copy_out(queue, host, host_pitch, device, device_pitch, width, rows); };
  if (!anyone_listens()) [[likely]]
    return run();
  return observe(tools::describe_copy(*this, queue, Kind::CopyOut, width, rows), run);
}

Status Executor::enqueue_copy(Queue& queue, const CopyCall& call) noexcept {
  if (!anyone_listens()) [[likely]]
    return run_enqueue_copy(queue, call);
  const Kind kind = call.direction == CopyDirection::In    ? Kind::CopyIn
                    : call.direction == CopyDirection::Out ? Kind::CopyOut
                                                           : Kind::CopyWithin;
  return observe(tools::describe_copy(*this, queue, kind, call.width, call.rows),
                 [&] { return run_enqueue_copy(queue, call); });
}

Status Executor::allocate_host(std::size_t bytes, void*& memory) noexcept {
  if (!anyone_listens()) [[likely]]
    return run_allocate_host(bytes, memory);
  tools::Observation observation(tools::describe_memory(*this, Kind::Allocate, "allocate_host", bytes, nullptr));
  Status status = run_allocate_host(bytes, memory);
  observation.allocated(memory);
  observation.end(status.code);
  return status;
}

void Executor::free_host(void* memory) noexcept {
  if (!anyone_listens() || memory == nullptr) [[likely]]
    return run_free_host(memory);
  tools::Observation observation(tools::describe_memory(*this, Kind::Free, "free_host", 0, memory));
  run_free_host(memory);
  observation.end(StatusCode::Ok);
}

Status Executor::map(Queue& queue, const MapCall& call) noexcept {
  if (!anyone_listens()) [[likely]]
    return run_map(queue, call);
  return observe(describe(*this, queue, call), [&] { return run_map(queue, call); });
}

Status Executor::random(Queue& queue, const RandomCall& call) noexcept {
  if (!anyone_listens()) [[likely]]
    return run_random(queue, call);
  return observe(describe(*this, queue, call), [&] { return run_random(queue, call); });
}

Status Executor::finish(Queue& queue, const FinishCall& call) noexcept {
  if (!anyone_listens()) [[likely]]
    return run_finish(queue, call);
  return observe(describe(*this, queue, call), [&] { return run_finish(queue, call); });
}

Status Executor::run_enqueue_copy(Queue& queue, const CopyCall& call) noexcept {
  const auto& [direction, to, to_pitch, from, from_pitch, width, rows, source] = call;
  if (direction == CopyDirection::In) return run_copy_in(queue, to, to_pitch, from, from_pitch, width, rows);
  if (direction == CopyDirection::Out) return run_copy_out(queue, to, to_pitch, from, from_pitch, width, rows);
  if (source != nullptr && source != this)
    return {StatusCode::Rejected, "this executor does not reach the memory of another one"};
  void* const aside = tessera::allocate_host(width * rows);
  if (aside == nullptr) return out_of_memory("a copy within a device, by way of the host", width * rows);
  Status status = run_copy_out(queue, aside, width, from, from_pitch, width, rows);
  if (status.ok()) status = run_copy_in(queue, to, to_pitch, aside, width, width, rows);
  tessera::free_host(aside);
  return status;
}

Status Executor::run_allocate_host(std::size_t bytes, void*& memory) noexcept {
  memory = tessera::allocate_host(bytes);
  if (memory != nullptr) return {};
  return out_of_memory("host memory for an executor's copies", bytes);
}

void Executor::run_free_host(void* memory) noexcept { tessera::free_host(memory); }

} // namespace tessera
