#include "executor.hpp"

#include <new>

#include <tessera/detail/floating_point.hpp>

#include "opencl/ceilings/ceilings.hpp"
#include "opencl/device/status.hpp"
#include "opencl/elementwise/elementwise.hpp"
#include "opencl/gemm/ladder.hpp"
#include "opencl/memory/copies.hpp"
#include "opencl/reduce/ladder.hpp"

namespace tessera::opencl {
namespace {

/// Runs what may throw std::bad_alloc in the contract's floating-point state.
template <class Work>
Status guarded(Work work) noexcept try {
  const detail::ContractArithmetic contract;
  return work();
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

} // namespace

Status OpenClExecutor::create(const Device& device, Backend backend, Executor*& executor) noexcept {
  executor = nullptr;
  return guarded([&]() -> Status {
    std::unique_ptr<Context> context;
    if (Status status = Context::create(device, context); !status.ok()) return status;
    std::unique_ptr<OpenClExecutor> made(new (std::nothrow) OpenClExecutor(std::move(context)));
    if (made == nullptr) return {StatusCode::OutOfMemory, {}};
    if (Status status = read_capabilities(device, backend, made->capabilities_); !status.ok()) return status;
    if (Status status = CommandQueue::create(made->memory_, made->queue_); !status.ok()) return status;
    executor = made.release();
    return {};
  });
}

OpenClExecutor::~OpenClExecutor() = default;

Status OpenClExecutor::run_allocate(std::size_t bytes, void*& memory) noexcept {
  const detail::ContractArithmetic contract;
  return memory_.allocate(bytes, memory);
}

void OpenClExecutor::run_free(void* memory) noexcept {
  const detail::ContractArithmetic contract;
  memory_.free(memory);
}

Status OpenClExecutor::run_copy_in(Queue& queue, void* device, std::size_t device_pitch, const void* host,
                                   std::size_t host_pitch, std::size_t width, std::size_t rows) noexcept {
  return guarded([&] {
    const cl_command_queue commands = command_queue(queue).get();
    const CopyShape shape{device_pitch, host_pitch, width, rows};
    if (Status status = opencl::copy_in(memory_, commands, device, host, shape, false); !status.ok()) return status;
    return check(cl().Finish(commands), "copying to the device");
  });
}

Status OpenClExecutor::run_copy_out(Queue& queue, void* host, std::size_t host_pitch, const void* device,
                                    std::size_t device_pitch, std::size_t width, std::size_t rows) noexcept {
  return guarded([&] {
    return opencl::copy_out(memory_, command_queue(queue).get(), host, device, {host_pitch, device_pitch, width, rows},
                            true);
  });
}

Status OpenClExecutor::run_enqueue_copy(Queue& queue, const CopyCall& call) noexcept {
  return guarded([&]() -> Status {
    const cl_command_queue commands = command_queue(queue).get();
    const CopyShape shape{call.to_pitch, call.from_pitch, call.width, call.rows};
    Status status;
    if (call.direction == CopyDirection::In)
      status = opencl::copy_in(memory_, commands, call.to, call.from, shape, !pinned_.holds(call.from));
    else if (call.direction == CopyDirection::Out)
      status = opencl::copy_out(memory_, commands, call.to, call.from, shape, !pinned_.holds(call.to));
    else if (call.source != nullptr && call.source != this)
      return {StatusCode::Rejected, "an OpenCL device does not reach the memory of another executor"};
    else
      status = copy_within(memory_, commands, call.to, call.from, shape);
    return status.ok() ? check(cl().Flush(commands), "starting a copy") : status;
  });
}

Status OpenClExecutor::run_allocate_host(std::size_t bytes, void*& memory) noexcept {
  const detail::ContractArithmetic contract;
  return pinned_.allocate(queue_->get(), bytes, memory);
}

void OpenClExecutor::run_free_host(void* memory) noexcept {
  const detail::ContractArithmetic contract;
  if (memory != nullptr) pinned_.free(queue_->get(), memory);
}

Status OpenClExecutor::create_queue(std::unique_ptr<Queue>& queue) noexcept {
  const detail::ContractArithmetic contract;
  std::unique_ptr<CommandQueue> made;
  Status status = CommandQueue::create(memory_, made);
  if (status.ok()) queue = std::move(made);
  return status;
}

Status OpenClExecutor::create_event(std::unique_ptr<Event>& event) noexcept {
  event.reset(new (std::nothrow) MarkerEvent(*context_));
  return event != nullptr ? Status{} : Status{StatusCode::OutOfMemory, {}};
}

std::span<const GemmKernel> OpenClExecutor::gemm_kernels() const noexcept { return gemm_ladder(); }
std::span<const ReduceKernel> OpenClExecutor::reduce_kernels() const noexcept { return reduce_ladder(); }

Status OpenClExecutor::run_map(Queue& queue, const MapCall& call) noexcept {
  return guarded([&] { return opencl::map(queue, call); });
}
Status OpenClExecutor::run_finish(Queue& queue, const FinishCall& call) noexcept {
  return guarded([&] { return opencl::apply_epilogue(queue, call); });
}
Status OpenClExecutor::run_random(Queue& queue, const RandomCall& call) noexcept {
  return guarded([&] { return opencl::random(queue, call); });
}

Status OpenClExecutor::measure_ceilings(DType type, Math, int, Ceilings& ceilings) noexcept {
  return guarded([&] { return opencl::measure_ceilings(*this, *queue_, type, ceilings); });
}

} // namespace tessera::opencl
