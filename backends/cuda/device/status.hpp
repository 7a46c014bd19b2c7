#pragma once

/// From CUDA's error codes to Status. Every CUDA call's result goes through check(), every launch through launched().

#include <cuda_runtime_api.h>

#include <tessera/status.hpp>

namespace tessera::cuda {

/// Ok, OutOfMemory or DeviceError; `what` says what was being done ("copy to the device"). Clears CUDA's remembered
/// error, so that the next call is not blamed for this one.
Status check(cudaError_t error, const char* what) noexcept;

/// To be called right after a launch; what goes wrong while the kernel runs is found when its queue is next waited for.
Status launched(const char* kernel) noexcept;

Status allow_shared_bytes(const void* function, std::size_t bytes, const char* kernel) noexcept;

/// To be called before a launch with more than 48 KiB of shared memory a block.
template <class Kernel>
Status allow_shared(Kernel* function, std::size_t bytes, const char* kernel) noexcept {
  return allow_shared_bytes(reinterpret_cast<const void*>(function), bytes, kernel);
}

} // namespace tessera::cuda
