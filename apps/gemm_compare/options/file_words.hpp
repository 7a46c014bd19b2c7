#pragma once

#include "options_parse.hpp"

namespace tessera::compare_app {

/// Reads --memory-limit, --resume and --devices, and refuses what makes no sense beside them. The other options are
/// known already.
void read_file_product(const CommandLine& words, Options& options);

} // namespace tessera::compare_app
