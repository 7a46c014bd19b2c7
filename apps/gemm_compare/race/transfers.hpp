#pragma once

/// Copies of a product's operands between host and device, on rows of their own: they are no part of a kernel's time.

#include "operands.hpp"
#include "result.hpp"

namespace tessera::compare_app {

enum class Direction { In, Out };

/// The row for one direction, not yet timed; what the product is comes from a kernel's row.
Result pending_transfer(const Result& kernel, Direction direction);

/// Times whole sets of `device`, which are those of `host`. Throws Error.
void time_transfer(Direction direction, const Problem& problem, const Operands& host, const Operands& device,
                   Executor& executor, int repeat, Result& result);

} // namespace tessera::compare_app
