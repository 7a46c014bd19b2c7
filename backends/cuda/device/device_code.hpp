#pragma once

#include <cuda_runtime_api.h>

namespace tessera::cuda {

/// The instructions that code was compiled for: of a kernel that needs newer ones it has an empty body. A device may
/// run code for earlier ones, and Hopper does not find its own but in code for 90a.
enum class DeviceCode { Turing, Ampere, Hopper };

/// What the current device has got. Success if this plug-in holds code that it can run.
cudaError_t find_device_code(DeviceCode& code) noexcept;

} // namespace tessera::cuda
