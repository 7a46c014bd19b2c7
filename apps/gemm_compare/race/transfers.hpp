#pragma once

/// Copies of a product's operands between host and device. They have entries of their own, because they are no part of
/// a kernel's time.

#include "operands.hpp"
#include "result.hpp"

namespace tessera::compare_app {

enum class Direction { In, Out };

/// Returns the entry for one direction, not yet timed. The product's fields are copied from a kernel's entry.
Result pending_transfer(const Result& kernel, Direction direction);

/// Times copies of whole sets of operands between `host` and `device`, which hold equal sets. Throws Error.
void time_transfer(Direction direction, const Problem& problem, const Operands& host, const Operands& device,
                   Executor& executor, int repeat, Result& result);

} // namespace tessera::compare_app
