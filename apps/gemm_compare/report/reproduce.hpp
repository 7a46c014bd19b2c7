#pragma once

/// Makes the command that shows one entry again.

#include <string>

#include "document.hpp"

namespace tessera::report {

/// Returns the shortest gemm_compare command line, ready for a shell, that runs this entry's kernel on this entry's
/// product with the data of the run. Options that have their default value are left out.
std::string reproduce_command(const Entry& entry, const Run& run);

} // namespace tessera::report
