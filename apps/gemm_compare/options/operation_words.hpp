#pragma once

/// Reads the words about operations: --op, --op-plugin, and the sizes of what they name.

#include "options_parse.hpp"

namespace tessera::compare_app {

/// Returns what --op asks for: one of the library's operations by its name, or operations that run functors. Throws
/// InvalidArgument if other options do not fit.
Operation parse_operation(const CommandLine& words);

/// Reads which operations that run functors are raced, and at which sizes; nothing for the library's own. The backends,
/// types and `operation` must be known. Throws InvalidArgument and IoError.
void read_operations(const CommandLine& words, Options& options);

/// Returns the types that are filled with what --dist says. Whole numbers among the arrays of an operation have a
/// filling of their own.
std::vector<DType> filled_types(const Options& options);

} // namespace tessera::compare_app
