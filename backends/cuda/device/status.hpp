#pragma once

/// Turns CUDA's error codes into Status. Every CUDA call's result goes through check(), every launch through
/// launched().

#include <cuda_runtime_api.h>

#include <tessera/status.hpp>

namespace tessera::cuda {

/// Returns Ok, OutOfMemory or DeviceError. `what` says what was being done ("copying to the device"). Clears the error
/// that CUDA remembers, so that the next call is not blamed for this one.
Status check(cudaError_t error, const char* what) noexcept;

/// Returns how the last launch went; call it right after a launch. An error that occurs while the kernel runs is found
/// when its queue is next waited for.
Status launched(const char* kernel) noexcept;

Status allow_shared_bytes(const void* function, std::size_t bytes, const char* kernel) noexcept;

/// Allows a kernel `bytes` of dynamic shared memory. Call it before a launch with more than 48 KiB a block.
template <class Kernel>
Status allow_shared(Kernel* function, std::size_t bytes, const char* kernel) noexcept {
  return allow_shared_bytes(reinterpret_cast<const void*>(function), bytes, kernel);
}

} // namespace tessera::cuda
