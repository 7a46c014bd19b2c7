#pragma once

/// Copies of 16-bit matrices for the copy engine, which needs rows that begin at multiples of 16 bytes.

#include <cuda_runtime_api.h>

#include <tessera/status.hpp>
#include <tessera/types.hpp>

namespace tessera::cuda {

/// Copies rows×cols elements with leading dimension `ld` to `out`, with leading dimension `pitch`. `out` must be
/// aligned to 16 bytes, and `pitch` must be a multiple of 8. What `out` has beyond `cols` is undefined.
Status copy_aligned(cudaStream_t stream, const void* data, Index rows, Index cols, Index ld, void* out, Index pitch,
                    const char* name) noexcept;

} // namespace tessera::cuda
