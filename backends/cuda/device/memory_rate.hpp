#pragma once

/// How fast a device's memory is.

namespace tessera::cuda {

/// Returns the bytes that the memory of a device moves in a second by its clock and its width, or 0 if the driver does
/// not say. The first call for a device asks the driver.
double memory_bytes_per_second(int device) noexcept;

} // namespace tessera::cuda
