#pragma once

/// The strict product as a fallback, for rows that find out on the device that they cannot keep their promise.

#include <tessera/backend/kernel.hpp>

namespace tessera::cuda {

/// Enqueues the strict f32 product, without a wait on the host. `condition` is in device memory: if *condition is 0
/// when the kernel starts, it does nothing. textbook/17_async_copy.cu defines it.
Status run_strict_if(const int* condition, Queue& queue, const GemmCall& call) noexcept;

} // namespace tessera::cuda
