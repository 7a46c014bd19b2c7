#pragma once

#include "options_parse.hpp"

namespace tessera::compare_app {

/// Reads --columns and --width, which say how the table looks. The outputs must be known. Throws InvalidArgument if the
/// command prints no table, or if a column is unknown or named twice.
void read_table(const CommandLine& words, Options& options);

} // namespace tessera::compare_app
