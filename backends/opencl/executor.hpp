#pragma once

/// The executor of one OpenCL device: its context, memory, queues and ladders.

#include <memory>

#include <tessera/executor.hpp>
#include <tessera/user_kernel/spirv_executor.hpp>

#include "opencl/device/context.hpp"
#include "opencl/memory/memory.hpp"
#include "opencl/memory/pinned.hpp"
#include "opencl/queue/command_queue.hpp"

namespace tessera::opencl {

class OpenClExecutor final : public Executor, public SpirvExecutor {
 public:
  static Status create(const Device& device, Backend backend, Executor*& executor) noexcept;
  ~OpenClExecutor() override;

  const Capabilities& capabilities() const noexcept override { return capabilities_; }
  Status run_allocate(std::size_t bytes, void*& memory) noexcept override;
  void run_free(void* memory) noexcept override;
  Status run_copy_in(Queue& queue, void* device, std::size_t device_pitch, const void* host, std::size_t host_pitch,
                     std::size_t width, std::size_t rows) noexcept override;
  Status run_copy_out(Queue& queue, void* host, std::size_t host_pitch, const void* device, std::size_t device_pitch,
                      std::size_t width, std::size_t rows) noexcept override;
  Status run_enqueue_copy(Queue& queue, const CopyCall& call) noexcept override;
  Status run_allocate_host(std::size_t bytes, void*& memory) noexcept override;
  void run_free_host(void* memory) noexcept override;
  Queue& default_queue() noexcept override { return *queue_; }
  Status create_queue(std::unique_ptr<Queue>& queue) noexcept override;
  Status create_event(std::unique_ptr<Event>& event) noexcept override;
  std::span<const GemmKernel> gemm_kernels() const noexcept override;
  std::span<const ReduceKernel> reduce_kernels() const noexcept override;
  Status run_map(Queue& queue, const MapCall& call) noexcept override;
  Status run_finish(Queue& queue, const FinishCall& call) noexcept override;
  Status run_random(Queue& queue, const RandomCall& call) noexcept override;
  Status run_gemm_batch(Queue& queue, std::span<const GemmBatch> groups) noexcept override; ///< gemm/batch
  Status takes_spirv() noexcept override;                                                   ///< user_kernels
  Status run_spirv(Queue& queue, const SpirvCall& call) noexcept override;                  ///< user_kernels
  Status measure_ceilings(DType type, Math math, int threads, Ceilings& ceilings) noexcept override;

 private:
  explicit OpenClExecutor(std::unique_ptr<Context> context)
      : context_(std::move(context)), memory_(*context_), pinned_(*context_) {}

  Capabilities capabilities_;
  std::unique_ptr<Context> context_;
  DeviceMemory memory_;
  Pinned pinned_;
  std::unique_ptr<CommandQueue> queue_;
};

} // namespace tessera::opencl
