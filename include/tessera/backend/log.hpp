#pragma once

/// TESSERA_LOG=dispatch prints each choice and each rejection to stderr. Kernels that choose among variants use it too.

#include <string>

#include <tessera/detail/export.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// Does the user want to see choices? The variable is read once.
TESSERA_API bool log_dispatch() noexcept;
/// Writes "tessera: " and the line to stderr.
TESSERA_API void log_line(const std::string& line) noexcept;

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
