#pragma once

/// The stream behind a queue: all that a kernel's `run` has to know of queues.

#include <cuda_runtime_api.h>

#include <tessera/backend/kernel.hpp>

namespace tessera::cuda {

/// The queue's stream, with its device made current on this thread: what a kernel's `run` calls first.
cudaStream_t stream_of(Queue& queue) noexcept;

} // namespace tessera::cuda
