#include "executor.hpp"

#include <new>

#include "device.hpp"
#include "elementwise/elementwise.hpp"
#include "gemm/ladder.hpp"
#include "reduce/ladder.hpp"
#include "status.hpp"

namespace tessera::cuda {

Status CudaExecutor::create(int device, std::size_t memory_limit, Executor*& executor) noexcept {
  executor = nullptr;
  std::unique_ptr<CudaExecutor> made(new (std::nothrow) CudaExecutor(device, memory_limit));
  if (!made) return {StatusCode::OutOfMemory, {}};
  if (Status status = read_capabilities(device, made->capabilities_); !status.ok()) return status;
  if (Status status = StreamQueue::create(device, made->queue_); !status.ok()) return status;
  executor = made.release();
  return {};
}

CudaExecutor::~CudaExecutor() = default;

Status CudaExecutor::allocate(std::size_t bytes, void*& memory) noexcept {
  return memory_.allocate(queue_->stream(), bytes, memory);
}

void CudaExecutor::free(void* memory) noexcept { memory_.free(queue_->stream(), memory); }

Status CudaExecutor::copy_in(Queue& queue, void* device, std::size_t device_pitch, const void* host,
                             std::size_t host_pitch, std::size_t width, std::size_t rows) noexcept {
  const cudaStream_t stream = stream_of(queue);
  if (Status status =
          check(cudaMemcpy2DAsync(device, device_pitch, host, host_pitch, width, rows, cudaMemcpyHostToDevice, stream),
                "copying to the device");
      !status.ok())
    return status;
  return queue.synchronize();
}

Status CudaExecutor::copy_out(Queue& queue, void* host, std::size_t host_pitch, const void* device,
                              std::size_t device_pitch, std::size_t width, std::size_t rows) noexcept {
  const cudaStream_t stream = stream_of(queue);
  if (Status status =
          check(cudaMemcpy2DAsync(host, host_pitch, device, device_pitch, width, rows, cudaMemcpyDeviceToHost, stream),
                "copying from the device");
      !status.ok())
    return status;
  return queue.synchronize();
}

Status CudaExecutor::create_queue(std::unique_ptr<Queue>& queue) noexcept {
  std::unique_ptr<StreamQueue> made;
  Status status = StreamQueue::create(device_, made);
  queue = std::move(made);
  return status;
}

Status CudaExecutor::create_event(std::unique_ptr<Event>& event) noexcept { return TimedEvent::create(device_, event); }

std::span<const GemmKernel> CudaExecutor::gemm_kernels() const noexcept { return gemm_ladder(); }
std::span<const ReduceKernel> CudaExecutor::reduce_kernels() const noexcept { return reduce_ladder(); }

Status CudaExecutor::map(Queue& queue, const MapCall& call) noexcept { return cuda::map(queue, call); }
Status CudaExecutor::random(Queue& queue, const RandomCall& call) noexcept { return cuda::random(queue, call); }
Status CudaExecutor::measure_ceilings(DType, Math, int, Ceilings& ceilings) noexcept {
  ceilings = {};
  return {};
}

} // namespace tessera::cuda
