#include <tessera/backend/host_executor.hpp>

#include <chrono>
#include <cstring>
#include <new>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>

#include "core/base/host_memory.hpp"
#include "reference/elementwise/epilogue.hpp"
#include "reference/fma_clones.hpp"

namespace tessera {
namespace {

class HostEvent final : public Event {
 public:
  Status record(Queue&) noexcept override {
    time_ = std::chrono::steady_clock::now();
    return {};
  }
  Status synchronize() noexcept override { return {}; }
  Status seconds_since(const Event& start, double& seconds) noexcept override {
    const detail::ContractArithmetic contract;
    seconds = std::chrono::duration<double>(time_ - static_cast<const HostEvent&>(start).time_).count();
    return {};
  }

 private:
  std::chrono::steady_clock::time_point time_;
};

void copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
               std::size_t rows) noexcept {
  for (std::size_t i = 0; i < rows; ++i)
    std::memcpy(static_cast<char*>(to) + i * to_pitch, static_cast<const char*>(from) + i * from_pitch, width);
}

template <class Base, class Derived>
Status make(std::unique_ptr<Base>& made) noexcept {
  made.reset(new (std::nothrow) Derived);
  return made ? Status{} : out_of_memory("a queue or an event", sizeof(Derived));
}

TESSERA_FMA_CLONES void finish_rows(const FinishCall& call) { host::apply_epilogue_to_rows(call, 0, call.rows); }

} // namespace

HostQueue::~HostQueue() = default;
HostExecutor::~HostExecutor() = default;

Status HostExecutor::run_allocate(std::size_t bytes, void*& memory) noexcept {
  memory = tessera::allocate_host(bytes);
  if (memory != nullptr) return {};
  return out_of_memory("a block of an executor's memory", bytes);
}

void HostExecutor::run_free(void* memory) noexcept { tessera::free_host(memory); }

Status HostExecutor::run_copy_in(Queue&, void* device, std::size_t device_pitch, const void* host,
                                 std::size_t host_pitch, std::size_t width, std::size_t rows) noexcept {
  copy_rows(device, device_pitch, host, host_pitch, width, rows);
  return {};
}

Status HostExecutor::run_copy_out(Queue&, void* host, std::size_t host_pitch, const void* device,
                                  std::size_t device_pitch, std::size_t width, std::size_t rows) noexcept {
  copy_rows(host, host_pitch, device, device_pitch, width, rows);
  return {};
}

Status HostExecutor::run_enqueue_copy(Queue&, const CopyCall& call) noexcept {
  if (call.source != nullptr && !call.source->capabilities().host_memory)
    return {StatusCode::Rejected, "this executor computes in host memory and does not reach a device's"};
  copy_rows(call.to, call.to_pitch, call.from, call.from_pitch, call.width, call.rows);
  return {};
}

Status HostExecutor::run_finish(Queue&, const FinishCall& call) noexcept {
  const detail::ContractArithmetic contract;
  finish_rows(call);
  return {};
}

Status HostExecutor::create_queue(std::unique_ptr<Queue>& queue) noexcept { return make<Queue, HostQueue>(queue); }
Status HostExecutor::create_event(std::unique_ptr<Event>& event) noexcept { return make<Event, HostEvent>(event); }

void run_steps(Executor& executor, const StepsCall& call) noexcept {
  if (auto* const host = dynamic_cast<HostExecutor*>(&executor))
    host->run_steps(call);
  else
    call.body(call.context);
}

bool lacks_threads_here(const Executor& executor) noexcept {
  const auto* host = dynamic_cast<const HostExecutor*>(&executor);
  return host != nullptr && host->threads_here() < host->capabilities().threads;
}

} // namespace tessera
