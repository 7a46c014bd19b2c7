#pragma once

/// Products of 16-bit operands, with results of their type and of f32.

#include <optional>
#include <string>

#include "cases.hpp"

namespace tessera::conformance {

/// As Problem<T>::check: empty, or what is wrong; `rejection` is set where the row does not take the case.
std::string check_half(const GemmKernel& row, bool by_name, DType result, const Case& x,
                       std::optional<std::string>& rejection);

/// The cases that 16-bit rows share: a part of those of the other types.
std::vector<Case> half_cases(const Tile& tile, bool quick, std::size_t every);

} // namespace tessera::conformance
