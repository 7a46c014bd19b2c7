#pragma once

/// Lets a thread that captures a stream do other work on the device meanwhile. Source: CUDA Runtime API,
/// "cudaThreadExchangeStreamCaptureMode".

#include <cuda_runtime_api.h>

namespace tessera::cuda {

/// As long as the object lives, its thread may allocate, free and wait for other streams, and none of this becomes part
/// of a capture. But if memory is short, allocating waits for the device, and the capture fails.
class RelaxedCaptureMode {
 public:
  RelaxedCaptureMode() { static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  ~RelaxedCaptureMode() { static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  RelaxedCaptureMode(const RelaxedCaptureMode&) = delete;
  RelaxedCaptureMode& operator=(const RelaxedCaptureMode&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

} // namespace tessera::cuda
