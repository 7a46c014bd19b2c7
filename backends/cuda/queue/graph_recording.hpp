#pragma once

/// A captured stream's work as a graph that can be launched again and again.

#include <cuda_runtime_api.h>

#include <memory>
#include <utility>

#include <tessera/recording.hpp>

#include "cuda/memory/recorded_memory.hpp"

namespace tessera::cuda {

class GraphRecording final : public Recording {
 public:
  /// Takes the graph over, whatever comes of it, and the memory of what it does.
  static Status create(int device, cudaGraph_t graph, std::unique_ptr<RecordedMemory> memory,
                       std::unique_ptr<Recording>& recording) noexcept;
  ~GraphRecording() override;
  Status replay(Queue& queue) noexcept override;

 private:
  GraphRecording(int device, cudaGraph_t graph, std::unique_ptr<RecordedMemory> memory)
      : device_(device), graph_(graph), recorded_(std::move(memory)) {}

  int device_;
  cudaGraph_t graph_; ///< memory that it allocates is the graph's own, so it is kept as long as what is made of it
  cudaGraphExec_t executable_ = nullptr;
  std::unique_ptr<RecordedMemory> recorded_;
};

} // namespace tessera::cuda
