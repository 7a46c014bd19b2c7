#pragma once

/// A device without hardware. The host must not touch its memory, and it counts copies and operations.

#include <cstring>
#include <map>
#include <memory>

#include <tessera/backend.hpp>
#include <tessera/backend/host_executor.hpp>

namespace tessera::test {

/// Computes with the reference's kernels on "device" memory.
class FakeDevice : public Executor {
 public:
  FakeDevice() {
    capabilities_.backend = Backend::Cuda;
    capabilities_.device = "fake";
    capabilities_.host_memory = false;
  }

  int copies_in = 0;
  int copies_out = 0;
  int kernels = 0;
  bool out_of_memory = false; ///< allocate() fails
  bool broken = false;        ///< copies and operations fail
  std::size_t blocks() const { return memory_.size(); }

  const Capabilities& capabilities() const noexcept override { return capabilities_; }

  Status run_allocate(std::size_t bytes, void*& memory) noexcept override {
    memory = nullptr;
    if (out_of_memory) return {StatusCode::OutOfMemory, "fake: no memory for " + std::to_string(bytes) + " bytes"};
    auto block = std::make_unique<char[]>(bytes + 64);
    memory = block.get();
    std::memset(memory, 0xff, bytes); // NaN
    memory_.emplace(memory, std::move(block));
    return {};
  }
  void run_free(void* memory) noexcept override { memory_.erase(memory); }

  Status run_copy_in(Queue&, void* device, std::size_t device_pitch, const void* host, std::size_t host_pitch,
                     std::size_t width, std::size_t rows) noexcept override {
    ++copies_in;
    return copy(device, device_pitch, host, host_pitch, width, rows);
  }
  Status run_copy_out(Queue&, void* host, std::size_t host_pitch, const void* device, std::size_t device_pitch,
                      std::size_t width, std::size_t rows) noexcept override {
    ++copies_out;
    return copy(host, host_pitch, device, device_pitch, width, rows);
  }

  Queue& default_queue() noexcept override { return queue_; }
  Status create_queue(std::unique_ptr<Queue>& queue) noexcept override {
    queue = std::make_unique<HostQueue>();
    return {};
  }
  Status create_event(std::unique_ptr<Event>& event) noexcept override { return reference().create_event(event); }

  std::span<const GemmKernel> gemm_kernels() const noexcept override { return reference().gemm_kernels(); }
  std::span<const ReduceKernel> reduce_kernels() const noexcept override { return reference().reduce_kernels(); }
  Status run_map(Queue& queue, const MapCall& call) noexcept override {
    ++kernels;
    return broken ? failure() : reference().map(queue, call);
  }
  Status run_random(Queue& queue, const RandomCall& call) noexcept override {
    ++kernels;
    return broken ? failure() : reference().random(queue, call);
  }
  Status run_finish(Queue& queue, const FinishCall& call) noexcept override {
    ++kernels;
    return broken ? failure() : reference().finish(queue, call);
  }
  Status measure_ceilings(DType, Math, int, Ceilings& ceilings) noexcept override {
    ceilings = {};
    return {};
  }

 private:
  static Executor& reference() { return executor(Backend::Reference); }
  static Status failure() { return {StatusCode::DeviceError, "fake: the device is broken"}; }

  Status copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
              std::size_t rows) const {
    if (broken) return failure();
    for (std::size_t i = 0; i < rows; ++i)
      std::memcpy(static_cast<char*>(to) + i * to_pitch, static_cast<const char*>(from) + i * from_pitch, width);
    return {};
  }

  Capabilities capabilities_;
  HostQueue queue_;
  std::map<void*, std::unique_ptr<char[]>> memory_;
};

} // namespace tessera::test
