#pragma once

#include "race/result.hpp"

namespace tessera::compare_app {

/// The verdict on a product's errors, and what to say about it. Where sums are exact, or the kernel promises canonical
/// bits, no difference is small enough.
void set_verdict(Result& result, bool exact);

/// What is wrong with a product: its worst element, or the row that Freivalds found; empty if it keeps its bound.
std::string over_bound(const GemmError& error, const std::optional<FreivaldsResult>& freivalds);
/// "checked 16 of 4096 rows, and all by Freivalds"; empty if every row was compared.
std::string coverage(const Result& result);

} // namespace tessera::compare_app
