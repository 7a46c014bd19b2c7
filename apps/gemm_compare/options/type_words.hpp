#pragma once

/// The words of --dtype and --result, made of the list of element types.

#include <string>

#include <tessera/types.hpp>

namespace tessera::compare_app {

/// Reads an element type, or the whole numbers that sums of squares and judged kernels have besides. `multiplies`: the
/// operation is a product; `judges`: there are kernels from outside. Throws InvalidArgument, which names the type,
/// where the operation does not have it.
DType parse_type(const std::string& word, bool multiplies, bool judges);

/// Returns what `--help` says of --dtype and of --result.
std::string help_of_types();
std::string help_of_results();

} // namespace tessera::compare_app
