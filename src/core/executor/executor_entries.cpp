/// The methods of an executor that programs call and a backend implements under the name with `run_`. They tell the
/// tools of the work.

#include <tessera/executor.hpp>

#include <new>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/backend/panel.hpp>
#include <tessera/detail/floating_point.hpp>

#include "core/base/host_memory.hpp"
#include "core/tools/describe.hpp"
#include "core/tools/listeners.hpp"
#include "random_range.hpp"

namespace tessera {

using tools::anyone_listens;
using tools::describe;
using tools::Kind;
using tools::observe;

namespace {

// These have the tools' side of an entry in functions of their own, so that without a tool the entry has no frame and
// ends in a jump to the backend's method.

template <auto Method, class Call>
[[gnu::noinline, gnu::cold]] Status tell_and_run(Executor& executor, Queue& queue, const Call& call) noexcept {
  return observe([&] { return describe(executor, queue, call); }, [&] { return (executor.*Method)(queue, call); });
}

template <auto Method>
[[gnu::noinline, gnu::cold]] Status tell_and_allocate(Executor& executor, const char* name, std::size_t bytes,
                                                      void*& memory) noexcept {
  tools::Observation observation(tools::describe_memory(executor, Kind::Allocate, name, bytes, nullptr));
  Status status = (executor.*Method)(bytes, memory);
  observation.allocated(memory);
  observation.end(status.code);
  return status;
}

template <auto Method>
[[gnu::noinline, gnu::cold]] void tell_and_free(Executor& executor, const char* name, void* memory) noexcept {
  tools::Observation observation(tools::describe_memory(executor, Kind::Free, name, 0, memory));
  (executor.*Method)(memory);
  observation.end(StatusCode::Ok);
}

} // namespace

Status Executor::allocate(std::size_t bytes, void*& memory) noexcept {
  if (!anyone_listens()) [[likely]]
    return run_allocate(bytes, memory);
  return tell_and_allocate<&Executor::run_allocate>(*this, "allocate", bytes, memory);
}

void Executor::free(void* memory) noexcept {
  if (!anyone_listens() || memory == nullptr) [[likely]]
    return run_free(memory);
  tell_and_free<&Executor::run_free>(*this, "free", memory);
}

Status Executor::copy_in(Queue& queue, void* device, std::size_t device_pitch, const void* host, std::size_t host_pitch,
                         std::size_t width, std::size_t rows) noexcept {
  const auto run = [&] { return run_copy_in(queue, device, device_pitch, host, host_pitch, width, rows); };
  if (!anyone_listens()) [[likely]]
    return run();
  return observe([&] { return tools::describe_copy(*this, queue, Kind::CopyIn, width, rows); }, run);
}

Status Executor::copy_out(Queue& queue, void* host, std::size_t host_pitch, const void* device,
                          std::size_t device_pitch, std::size_t width, std::size_t rows) noexcept {
  const auto run = [&] { return run_copy_out(queue, host, host_pitch, device, device_pitch, width, rows); };
  if (!anyone_listens()) [[likely]]
    return run();
  return observe([&] { return tools::describe_copy(*this, queue, Kind::CopyOut, width, rows); }, run);
}

Status Executor::enqueue_copy(Queue& queue, const CopyCall& call) noexcept {
  if (!anyone_listens()) [[likely]]
    return run_enqueue_copy(queue, call);
  return tell_and_run<&Executor::run_enqueue_copy>(*this, queue, call);
}

Status Executor::allocate_host(std::size_t bytes, void*& memory) noexcept {
  if (!anyone_listens()) [[likely]]
    return run_allocate_host(bytes, memory);
  return tell_and_allocate<&Executor::run_allocate_host>(*this, "allocate_host", bytes, memory);
}

void Executor::free_host(void* memory) noexcept {
  if (!anyone_listens() || memory == nullptr) [[likely]]
    return run_free_host(memory);
  tell_and_free<&Executor::run_free_host>(*this, "free_host", memory);
}

Status Executor::map(Queue& queue, const MapCall& call) noexcept {
  if (!anyone_listens()) [[likely]]
    return run_map(queue, call);
  return tell_and_run<&Executor::run_map>(*this, queue, call);
}

Status Executor::random(Queue& queue, const RandomCall& call) noexcept {
  {
    const detail::ContractArithmetic contract;
    if (Status status = check_random(call); !status.ok()) return status;
  }
  if (!anyone_listens()) [[likely]]
    return run_random(queue, call);
  return tell_and_run<&Executor::run_random>(*this, queue, call);
}

Status Executor::finish(Queue& queue, const FinishCall& call) noexcept {
  if (!anyone_listens()) [[likely]]
    return run_finish(queue, call);
  return tell_and_run<&Executor::run_finish>(*this, queue, call);
}

Status Executor::panel(Queue& queue, const PanelCall& call) noexcept {
  if (call.rows == 0 || call.cols == 0) return {};
  if (!anyone_listens()) [[likely]]
    return run_panel(queue, call);
  return tell_and_run<&Executor::run_panel>(*this, queue, call);
}

Status Executor::run_panel(Queue&, const PanelCall&) noexcept {
  return {StatusCode::Rejected, "backend " + std::string(to_string(capabilities().backend)) +
                                    " has no steps of factorisations; linear algebra computes them on the host"};
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
