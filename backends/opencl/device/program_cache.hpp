#pragma once

/// Compiled programs that are kept between processes, in $XDG_CACHE_HOME/tessera/opencl or ~/.cache/tessera/opencl.
///
/// A program holds code that will run, so that the folder must be the user's and closed to all others; else nothing is
/// read or written there. Nothing here is an error: what is not kept is compiled again, and TESSERA_LOG=dispatch says
/// why. Files are replaced as a whole, so that several processes may keep one program at the same time.

#include <string>
#include <string_view>

namespace tessera::opencl {

/// Returns the binary that was kept under this key, or an empty text. `key` is all that the binary depends on: source,
/// options, device, driver.
std::string kept_binary(std::string_view key) noexcept;

/// Keeps a binary, which is not empty.
void keep_binary(std::string_view key, std::string_view binary) noexcept;

} // namespace tessera::opencl
