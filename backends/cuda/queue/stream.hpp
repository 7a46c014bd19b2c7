#pragma once

/// The stream behind a queue. A kernel's `run` needs to know nothing else of queues.

#include <cuda_runtime_api.h>

#include <tessera/backend/kernel.hpp>

namespace tessera::cuda {

/// Returns the queue's stream and makes its device current on this thread. A kernel's `run` calls it first.
cudaStream_t stream_of(Queue& queue) noexcept;

} // namespace tessera::cuda
