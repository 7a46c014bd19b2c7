#pragma once

/// Copies of 16-bit matrices for the copy engine, which wants rows that begin at multiples of 16 bytes.

#include <cuda_runtime_api.h>

#include <tessera/status.hpp>
#include <tessera/types.hpp>

namespace tessera::cuda {

/// `out` is aligned to 16 bytes, and `pitch` a multiple of 8 elements; what it has past cols is undefined.
Status copy_aligned(cudaStream_t stream, const void* data, Index rows, Index cols, Index ld, void* out, Index pitch,
                    const char* name) noexcept;

} // namespace tessera::cuda
