#pragma once

#include <cuda_runtime_api.h>

namespace tessera::cuda {

/// The instructions that device code was compiled for. A kernel that needs newer instructions has an empty body in it.
/// A device may run code for earlier instructions. Only code for 90a has Hopper's own.
enum class DeviceCode { Turing, Ampere, Hopper };

/// Finds which code the current device has loaded. Succeeds if this plug-in holds code that the device can run.
cudaError_t find_device_code(DeviceCode& code) noexcept;

} // namespace tessera::cuda
