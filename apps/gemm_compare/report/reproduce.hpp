#pragma once

/// The command that shows one row again.

#include <string>

#include "document.hpp"

namespace tessera::report {

/// The shortest gemm_compare command line that runs this row's kernel on this row's product, with the data of the
/// run: what the program would do anyhow (its defaults) is left out. Ready for a shell.
std::string reproduce_command(const Row& row, const Run& run);

} // namespace tessera::report
