#pragma once

/// For rows that find out on the device that they cannot keep their promise.

#include <tessera/backend/kernel.hpp>

namespace tessera::cuda {

/// Enqueues the strict f32 product, which does nothing if *condition is 0 when its turn comes: no wait on the host.
Status run_strict_if(const int* condition, Queue& queue, const GemmCall& call) noexcept;

} // namespace tessera::cuda
