#pragma once

/// Which device an executor uses, and why not the others.

#include <tessera/executor.hpp>

namespace tessera::cuda {

/// The device `wanted`; if that is −1, the one that TESSERA_CUDA_DEVICE names, else the first usable one.
/// Unavailable with the reason: no driver, driver too old, no device, no such device, no code for it.
Status choose_device(int wanted, int& device) noexcept;

/// What the device can do. It was chosen before.
Status read_capabilities(int device, Capabilities& capabilities) noexcept;

} // namespace tessera::cuda
