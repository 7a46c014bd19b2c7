#pragma once

/// Copies of rows between host and device, and within the device, by OpenCL's rectangles.

#include <cstddef>

#include "memory.hpp"

namespace tessera::opencl {

/// `rows` rows of `width` bytes. A pitch is the distance from row to row in bytes, `width` or more.
struct CopyShape {
  std::size_t to_pitch;
  std::size_t from_pitch;
  std::size_t width;
  std::size_t rows;
};

/// Enqueue a copy. With `waits` they return when the host's memory is no longer needed: what copy_out() reads is there
/// then.
Status copy_in(const DeviceMemory& memory, cl_command_queue queue, void* to, const void* from, CopyShape shape,
               bool waits);
Status copy_out(const DeviceMemory& memory, cl_command_queue queue, void* to, const void* from, CopyShape shape,
                bool waits);
/// Enqueues a copy within the device's memory.
Status copy_within(const DeviceMemory& memory, cl_command_queue queue, void* to, const void* from, CopyShape shape);

} // namespace tessera::opencl
