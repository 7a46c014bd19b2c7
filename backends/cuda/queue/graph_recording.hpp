#pragma once

/// A recording: the work of a captured stream as a CUDA graph, which can be launched again and again.

#include <cuda_runtime_api.h>

#include <memory>
#include <utility>

#include <tessera/performance/recording.hpp>

#include "graph_resources.hpp"
#include "recorded_memory.hpp"

namespace tessera::cuda {

class GraphRecording final : public Recording, public RecordedResources {
 public:
  /// Makes a recording of `graph`, whose kernels use `memory`. Takes both over, even if it fails.
  static Status create(int device, cudaGraph_t graph, std::unique_ptr<RecordedMemory> memory,
                       std::unique_ptr<Recording>& recording) noexcept;
  ~GraphRecording() override;
  Status replay(Queue& queue) noexcept override;
  Status read_resources(KernelResources& resources) noexcept override {
    return read_graph_resources(device_, graph_, resources);
  }

 private:
  GraphRecording(int device, cudaGraph_t graph, std::unique_ptr<RecordedMemory> memory)
      : device_(device), graph_(graph), recorded_(std::move(memory)) {}

  int device_;
  cudaGraph_t graph_; ///< Lives as long as `executable_`, because it owns the memory that the graph allocates.
  cudaGraphExec_t executable_ = nullptr;
  std::unique_ptr<RecordedMemory> recorded_;
};

} // namespace tessera::cuda
