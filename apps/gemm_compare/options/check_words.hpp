#pragma once

/// The options of --check, which says whether a C in a file is the product of an A and a B.

#include "options_parse.hpp"

namespace tessera::compare_app {

/// Reads the words of --check. Throws InvalidArgument for options that make no sense beside it, and for options of
/// --check without it.
void read_check(const CommandLine& words, Options& options);

} // namespace tessera::compare_app
