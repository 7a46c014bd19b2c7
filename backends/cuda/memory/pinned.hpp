#pragma once

/// Page-locked host memory for programs, and copies within the memory of devices.

#include <cuda_runtime_api.h>

#include <cstddef>

#include <tessera/status.hpp>

namespace tessera::cuda {

/// Allocates page-locked memory that every device of the process copies from and to.
Status allocate_pinned(int device, std::size_t bytes, void*& memory) noexcept;
/// Frees such memory; null does nothing.
void free_pinned(int device, void* memory) noexcept;

/// Enqueues a copy of rows of `width` bytes from device memory to the memory of the stream's device. `from` may be
/// another device's; the runtime knows by the address.
Status copy_within(cudaStream_t stream, void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                   std::size_t width, std::size_t rows) noexcept;

} // namespace tessera::cuda
