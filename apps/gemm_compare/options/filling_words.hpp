#pragma once

#include <string>
#include <vector>

#include "options.hpp"

namespace tessera::compare_app {

/// What --dist says: "uniform", "normal:0:2", "integers:1:100", "wide:32", "cancel", "special", with numbers that suit
/// all of the types. Throws InvalidArgument.
Filling parse_filling(const std::string& text, Operation operation, const std::vector<DType>& types);

} // namespace tessera::compare_app
