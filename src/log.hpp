#pragma once

/// TESSERA_LOG=dispatch prints each choice and each rejection to stderr.

#include <string>

namespace tessera {

bool log_dispatch() noexcept;
void log_line(const std::string& line) noexcept;

} // namespace tessera
