#include "graph_recording.hpp"

#include <new>

#include <tessera/detail/floating_point.hpp>

#include "cuda/device/relaxed_capture.hpp"
#include "cuda/device/status.hpp"
#include "stream.hpp"

namespace tessera::cuda {

Status GraphRecording::create(int device, cudaGraph_t graph, std::unique_ptr<RecordedMemory> memory,
                              std::unique_ptr<Recording>& recording) noexcept {
  std::unique_ptr<GraphRecording> made(new (std::nothrow) GraphRecording(device, graph, std::move(memory)));
  if (!made) {
    static_cast<void>(cudaGraphDestroy(graph));
    return {StatusCode::OutOfMemory, {}};
  }
  const RelaxedCaptureMode relaxed;
  if (Status status = check(cudaGraphInstantiate(&made->executable_, graph, 0), "preparing a recording to be replayed");
      !status.ok())
    return status;
  if (Status status = made->recorded_->settle(); !status.ok()) return status;
  recording = std::move(made);
  return {};
}

GraphRecording::~GraphRecording() {
  const detail::ContractArithmetic contract;
  const RelaxedCaptureMode relaxed;
  static_cast<void>(cudaSetDevice(device_));
  if (executable_ != nullptr) static_cast<void>(cudaGraphExecDestroy(executable_));
  static_cast<void>(cudaGraphDestroy(graph_));
  static_cast<void>(
      cudaDeviceGraphMemTrim(device_)); // Else CUDA keeps the memory that a graph allocated for other graphs.
  static_cast<void>(cudaGetLastError());
}

Status GraphRecording::replay(Queue& queue) noexcept {
  const detail::ContractArithmetic contract;
  return check(cudaGraphLaunch(executable_, stream_of(queue)), "replaying a recording");
}

} // namespace tessera::cuda
