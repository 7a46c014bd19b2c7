#pragma once

/// The options of --lens, which counts a CUDA kernel's accesses to memory without a GPU.

#include "options_parse.hpp"

namespace tessera::compare_app {

/// Reads the words of --lens. Throws InvalidArgument for options that make no sense beside it.
void read_lens(const CommandLine& words, Options& options);

} // namespace tessera::compare_app
