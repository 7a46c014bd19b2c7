#pragma once

#include <string>
#include <vector>

#include "options.hpp"

namespace tessera::compare_app {

/// Reads the word of --dist: "uniform", "normal:0:2", "integers:1:100", "wide:32", "cancel" or "special". Throws
/// InvalidArgument if it is wrong, or if its numbers do not suit the operation and every one of the types.
Filling parse_filling(const std::string& text, Operation operation, const std::vector<DType>& types);

} // namespace tessera::compare_app
