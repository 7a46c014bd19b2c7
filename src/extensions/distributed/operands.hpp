#pragma once

#include <string>
#include <utility>

#include "grid_state.hpp"
#include "panels/panels.hpp"

namespace tessera::distributed {

/// Returns how a matrix is spread and where this rank's elements are, with rows as the outer dimension, or with
/// columns.
Source source_of(const tessera::detail::DistributedStorage& x, bool rows_are_outer) noexcept;

/// Agrees on a step of a function whose matrix must lie alike for all ranks.
Status agree_on_layout(const char* function, const tessera::detail::DistributedStorage& x, const Status& mine) noexcept;

/// Returns a mistake of the caller.
inline Status wrong(std::string why) { return {StatusCode::InvalidArgument, std::move(why)}; }

/// Returns "2×3" for a shape.
inline std::string text_of_shape(Index rows, Index cols) { return std::to_string(rows) + "×" + std::to_string(cols); }

} // namespace tessera::distributed
