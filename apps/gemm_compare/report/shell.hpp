#pragma once

#include <string>

namespace tessera::report {

/// Returns the word as a POSIX shell reads it back: as it is, or in single quotes.
std::string shell_quoted(const std::string& word);

} // namespace tessera::report
