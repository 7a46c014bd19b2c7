#pragma once

/// Turns CUDA's error codes into Status. Every CUDA call's result goes through check(), every launch through
/// launched().

#include <cuda_runtime_api.h>

#include <tessera/status.hpp>

namespace tessera::cuda {

/// Returns Ok, OutOfMemory or DeviceError. `what` says what was being done ("copying to the device"). Clears the error
/// that CUDA remembers, so that the next call is not blamed for this one.
Status check(cudaError_t error, const char* what) noexcept;

/// Does what check() does for an operation on a kernel, and says it in the text: "`doing``kernel`: …".
Status check_kernel(cudaError_t error, const char* doing, const char* kernel) noexcept;

/// Returns how the last launch went; call it right after a launch. An error that occurs while the kernel runs is found
/// when its queue is next waited for.
Status launched(const char* kernel) noexcept;

} // namespace tessera::cuda
