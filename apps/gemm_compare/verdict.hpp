#pragma once

#include "result.hpp"

namespace tessera::compare_app {

/// The verdict on a product's errors, and what to say about it. Where sums are exact, or the kernel promises canonical
/// bits, no difference is small enough.
void set_verdict(Result& result, bool exact);

} // namespace tessera::compare_app
