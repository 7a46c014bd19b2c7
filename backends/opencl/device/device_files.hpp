#pragma once

/// Whether the kernel of the system shows a GPU at all.

namespace tessera::opencl {

/// Says whether there is a device file of a GPU's driver. Without one no driver of OpenCL has a GPU, and none needs to
/// be loaded to find that out: a driver takes some 10 ms, starts threads and makes folders.
bool has_device_files() noexcept;

} // namespace tessera::opencl
