#pragma once

/// TESSERA_LOG=dispatch prints each choice and each rejection to stderr: for kernels that choose among variants, too.

#include <string>

#include <tessera/detail/export.hpp>

namespace tessera {

/// Whether the user wants to see choices. Read once.
TESSERA_API bool log_dispatch() noexcept;
/// One line to stderr, after "tessera: ".
TESSERA_API void log_line(const std::string& line) noexcept;

} // namespace tessera
