#pragma once

/// The limit of dynamic shared memory of a block, which the driver keeps for each kernel on each device.

#include <tessera/status.hpp>

namespace tessera::cuda {

/// Allows a kernel as much dynamic shared memory as a block can have on the current device. Call it before each launch
/// with more than 48 KiB a block. The limit is state that all threads share, so it never depends on one launch: a lower
/// one that another thread set would make this launch fail. It is set at the first call for a kernel and a device;
/// later calls cost a search.
Status allow_most_shared(const void* kernel, const char* name) noexcept;

template <class Kernel>
Status allow_most_shared(Kernel* kernel, const char* name) noexcept {
  return allow_most_shared(reinterpret_cast<const void*>(kernel), name);
}

} // namespace tessera::cuda
