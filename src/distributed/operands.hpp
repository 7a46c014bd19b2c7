#pragma once

#include "grid_state.hpp"
#include "panels.hpp"

namespace tessera::distributed {

/// Returns how a matrix is spread and where this rank's elements are, with rows as the outer dimension, or with
/// columns.
Source source_of(const tessera::detail::DistributedStorage& x, bool rows_are_outer) noexcept;

} // namespace tessera::distributed
