#pragma once

/// What a thread does beside the stream that it captures. CUDA Runtime API, "cudaThreadExchangeStreamCaptureMode".

#include <cuda_runtime_api.h>

namespace tessera::cuda {

/// As long as it lives, this thread may allocate, free and wait for other streams; none of it is part of a capture. But
/// where memory is short, allocating waits for the device, and what is being captured fails.
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
