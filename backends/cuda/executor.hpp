#pragma once

/// The CUDA executor: one device, its memory, its default queue and its ladders.

#include <memory>

#include <tessera/backend/device_state.hpp>
#include <tessera/executor.hpp>

#include "cuda/gemm/batch/table.hpp"
#include "cuda/memory/memory.hpp"
#include "cuda/memory/staging.hpp"
#include "cuda/queue/side_queues.hpp"
#include "cuda/queue/stream_queue.hpp"

namespace tessera::cuda {

class CudaExecutor final : public Executor, public DeviceMonitor {
 public:
  /// `memory_limit`: the most bytes that may be allocated at any time; 0 means that there is no limit.
  /// `copy_threads`: the most threads that a copy of pageable memory may use.
  static Status create(int device, std::size_t memory_limit, int copy_threads, Executor*& executor) noexcept;
  ~CudaExecutor() override;

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
  Status adopt_stream(void* stream, std::unique_ptr<Queue>& queue) noexcept override;
  Status create_event(std::unique_ptr<Event>& event) noexcept override;
  std::span<const GemmKernel> gemm_kernels() const noexcept override;
  std::span<const ReduceKernel> reduce_kernels() const noexcept override;
  Status run_map(Queue& queue, const MapCall& call) noexcept override;
  Status run_finish(Queue& queue, const FinishCall& call) noexcept override;
  Status run_random(Queue& queue, const RandomCall& call) noexcept override;
  Status measure_ceilings(DType type, Math math, int threads, Ceilings& ceilings) noexcept override;
  Status read_state(DeviceState& state) noexcept override;

 protected:
  Status run_gemm_batch(Queue& queue, std::span<const GemmBatch> groups) noexcept override; ///< gemm/batch
  Status takes_row_ends(const GemmBatch& group) const override;
  Status run_row_ends(Queue& queue, const GemmBatch& group) noexcept override;
  Status run_panel(Queue& queue, const PanelCall& call) noexcept override;

 private:
  CudaExecutor(int device, std::size_t memory_limit, int copy_threads) noexcept
      : device_(device), memory_(device, memory_limit), staging_(device, copy_threads) {}

  int device_;
  Capabilities capabilities_;
  DeviceMemory memory_;
  Staging staging_;
  PinnedTables tables_;
  std::unique_ptr<StreamQueue> queue_;
  std::shared_ptr<SideQueues> side_queues_;
};

} // namespace tessera::cuda
