#pragma once

/// Products of 16-bit operands, with results of the operands' type and of f32.

#include <optional>
#include <string>

#include "cases.hpp"

namespace tessera::conformance {

/// Runs the named kernel, or the executor's own choice if not `by_name`, on a case, and checks everything. Returns an
/// empty string, or what is wrong. Sets `rejection` where the kernel does not take the case.
std::string check_half(const GemmKernel& kernel, bool by_name, DType result, const Case& x,
                       std::optional<std::string>& rejection);

/// Returns the cases of a 16-bit kernel: half of the cases that all kernels share, and the cases at its tile.
std::vector<Case> half_cases(const Tile& tile, bool quick, std::size_t every);

} // namespace tessera::conformance
