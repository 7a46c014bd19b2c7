#pragma once

#include "options_parse.hpp"

namespace tessera::compare_app {

/// Reads --memory-limit and --resume, and refuses what makes no sense beside them. The other options are known already.
void read_file_product(const CommandLine& words, Options& options);
/// Reads --devices.
void read_devices(const CommandLine& words, Options& options);

} // namespace tessera::compare_app
