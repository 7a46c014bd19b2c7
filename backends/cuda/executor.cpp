#include "executor.hpp"

#include <new>

#include <tessera/detail/floating_point.hpp>

#include "cuda/ceilings/ceilings.hpp"
#include "cuda/device/device.hpp"
#include "cuda/device/nvml.hpp"
#include "cuda/device/status.hpp"
#include "cuda/elementwise/elementwise.hpp"
#include "cuda/gemm/ladder.hpp"
#include "cuda/gemm/other_generations.hpp"
#include "cuda/memory/pinned.hpp"
#include "cuda/panel/panel.hpp"
#include "cuda/reduce/ladder.hpp"
#include "cuda/small_systems/small_systems.hpp"

namespace tessera::cuda {

Status CudaExecutor::create(int device, std::size_t memory_limit, int copy_threads, Executor*& executor) noexcept {
  executor = nullptr;
  std::unique_ptr<CudaExecutor> made(new (std::nothrow) CudaExecutor(device, memory_limit, copy_threads));
  if (!made) return {StatusCode::OutOfMemory, {}};
  if (Status status = read_capabilities(device, made->capabilities_); !status.ok()) return status;
  if (Status status = StreamQueue::create(device, *made, made->memory_, made->queue_); !status.ok()) return status;
  if (Status status = SideQueues::create(device, made->queue_->stream(), made->side_queues_); !status.ok())
    return status;
  made->queue_->join(made->side_queues_);
  executor = made.release();
  return {};
}

CudaExecutor::~CudaExecutor() = default;

Status CudaExecutor::run_allocate(std::size_t bytes, void*& memory) noexcept {
  const detail::ContractArithmetic contract;
  const auto held = queue_->hold();
  if (RecordedMemory* const recorded = queue_->recorded_memory()) return recorded->allocate(bytes, memory);
  if (Status status = memory_.allocate(queue_->stream(), bytes, memory); !status.ok()) return status;
  Status status = side_queues_->put_after_main();
  if (!status.ok()) {
    memory_.free(queue_->stream(), memory);
    memory = nullptr;
  }
  return status;
}

void CudaExecutor::run_free(void* memory) noexcept {
  const detail::ContractArithmetic contract;
  if (memory == nullptr) return;
  const auto held = queue_->hold();
  const cudaStream_t stream = stream_of(*queue_);
  if (RecordedMemory* const recorded = queue_->recorded_memory()) {
    static_cast<void>(side_queues_->put_before(recorded->stream()));
    recorded->free(memory);
    return;
  }
  if (!side_queues_->put_before(stream).ok()) static_cast<void>(cudaDeviceSynchronize());
  memory_.free(stream, memory);
}

Status CudaExecutor::run_copy_in(Queue& queue, void* device, std::size_t device_pitch, const void* host,
                                 std::size_t host_pitch, std::size_t width, std::size_t rows) noexcept {
  const detail::ContractArithmetic contract;
  return staging_.copy_in(stream_of(queue), device, host, {device_pitch, host_pitch, width, rows});
}

Status CudaExecutor::run_copy_out(Queue& queue, void* host, std::size_t host_pitch, const void* device,
                                  std::size_t device_pitch, std::size_t width, std::size_t rows) noexcept {
  const detail::ContractArithmetic contract;
  return staging_.copy_out(stream_of(queue), host, device, {device_pitch, host_pitch, width, rows});
}

Status CudaExecutor::run_enqueue_copy(Queue& queue, const CopyCall& call) noexcept {
  const detail::ContractArithmetic contract;
  const cudaStream_t stream = stream_of(queue);
  if (call.direction == CopyDirection::In)
    return staging_.start_in(stream, call.to, call.from, {call.to_pitch, call.from_pitch, call.width, call.rows});
  if (call.direction == CopyDirection::Out)
    return staging_.start_out(stream, call.to, call.from, {call.from_pitch, call.to_pitch, call.width, call.rows});
  if (call.source != nullptr && call.source != this) {
    auto* const other = dynamic_cast<CudaExecutor*>(call.source);
    if (other == nullptr)
      return {StatusCode::Rejected, "a GPU reaches the memory of other GPUs, but not of another backend's device"};
    other->memory_.let_reach(device_);
  }
  return copy_within(stream, call.to, call.to_pitch, call.from, call.from_pitch, call.width, call.rows);
}

Status CudaExecutor::run_allocate_host(std::size_t bytes, void*& memory) noexcept {
  const detail::ContractArithmetic contract;
  return allocate_pinned(device_, bytes, memory);
}

void CudaExecutor::run_free_host(void* memory) noexcept {
  const detail::ContractArithmetic contract;
  free_pinned(device_, memory);
}

Status CudaExecutor::create_queue(std::unique_ptr<Queue>& queue) noexcept {
  const detail::ContractArithmetic contract;
  std::unique_ptr<StreamQueue> made;
  if (Status status = StreamQueue::create(device_, *this, memory_, made); !status.ok()) return status;
  if (Status status = side_queues_->add(made->stream()); !status.ok()) return status;
  made->join(side_queues_);
  queue = std::move(made);
  return {};
}

Status CudaExecutor::adopt_stream(void* stream, std::unique_ptr<Queue>& queue) noexcept {
  queue.reset(StreamQueue::adopt(device_, *this, memory_, static_cast<cudaStream_t>(stream)).release());
  return queue ? Status{} : Status{StatusCode::OutOfMemory, {}};
}

Status CudaExecutor::create_event(std::unique_ptr<Event>& event) noexcept {
  const detail::ContractArithmetic contract;
  return TimedEvent::create(device_, event);
}

std::span<const GemmKernel> CudaExecutor::gemm_kernels() const noexcept {
  return capabilities().compute_major == 9 ? gemm_ladder() : ladder_of_other_generations();
}
std::span<const ReduceKernel> CudaExecutor::reduce_kernels() const noexcept { return reduce_ladder(); }

Status CudaExecutor::run_map(Queue& queue, const MapCall& call) noexcept {
  const detail::ContractArithmetic contract;
  return cuda::map(queue, call);
}
Status CudaExecutor::run_finish(Queue& queue, const FinishCall& call) noexcept {
  const detail::ContractArithmetic contract;
  return cuda::apply_epilogue(queue, call);
}
Status CudaExecutor::run_random(Queue& queue, const RandomCall& call) noexcept {
  const detail::ContractArithmetic contract;
  return cuda::random(queue, call);
}
Status CudaExecutor::run_panel(Queue& queue, const PanelCall& call) noexcept {
  const detail::ContractArithmetic contract;
  return call.op == PanelOp::SmallSystems ? cuda::small_systems(*this, queue, call) : cuda::panel(*this, queue, call);
}
Status CudaExecutor::measure_ceilings(DType type, Math math, int, Ceilings& ceilings) noexcept {
  const detail::ContractArithmetic contract;
  return cuda::measure_ceilings(*this, *queue_, type, math, ceilings);
}
Status CudaExecutor::read_state(DeviceState& state) noexcept {
  const detail::ContractArithmetic contract;
  return Nvml::read_state(device_, state);
}

} // namespace tessera::cuda
