#pragma once

#include <cuda_runtime_api.h>

namespace tessera::cuda {

/// Success if this plug-in holds code that the current device can run.
cudaError_t find_device_code() noexcept;

} // namespace tessera::cuda
