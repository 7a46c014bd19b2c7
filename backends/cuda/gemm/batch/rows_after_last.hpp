#pragma once

/// The rows of C after the last product of a group whose rows end at numbers in device memory.

#include <cuda_runtime_api.h>

#include <tessera/batch.hpp>

namespace tessera::cuda {

/// Enqueues the launch that makes them beta·C.
Status scale_rows_after_last(cudaStream_t stream, const GemmBatch& group, Index multiprocessors) noexcept;

} // namespace tessera::cuda
