#pragma once

/// Chooses the device that an executor uses, or says why it cannot.

#include <tessera/executor.hpp>

namespace tessera::cuda {

/// Chooses the device `wanted`. If `wanted` is −1, chooses the device that TESSERA_CUDA_DEVICE names or, if the
/// variable is unset, the first usable one. Fails with Unavailable and the reason: there is no driver, the driver is
/// too old, there is no device, there is no such device, or the plug-in has no code for it.
Status choose_device(int wanted, int& device) noexcept;

/// Fills in what the device can do. Precondition: choose_device() has chosen it.
Status read_capabilities(int device, Capabilities& capabilities) noexcept;

} // namespace tessera::cuda
