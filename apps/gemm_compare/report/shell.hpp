#pragma once

#include <string>

namespace tessera::report {

/// The word as a POSIX shell must be given it: as it is, or in single quotes.
std::string shell_quoted(const std::string& word);

} // namespace tessera::report
