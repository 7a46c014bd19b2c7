#pragma once

/// Turns OpenCL's error codes into Status. The result of every call that can fail goes through check().

#include <tessera/status.hpp>

#include "loader.hpp"

namespace tessera::opencl {

/// Returns the code's name, such as "CL_INVALID_VALUE", or its number for a code of a later version.
std::string name_of(cl_int code);

/// Returns Ok, OutOfMemory or DeviceError. `what` says what was being done ("copying to the device").
Status check(cl_int code, const char* what) noexcept;

} // namespace tessera::opencl
