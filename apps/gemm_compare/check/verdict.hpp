#pragma once

#include "race/result.hpp"

namespace tessera::compare_app {

/// Sets the verdict and the reason of a result from its errors. `exact`: every sum is exact in this arithmetic, so that
/// any difference is wrong; so is any differing bit of a kernel that keeps the contract.
void set_verdict(Result& result, bool exact);

/// Returns what is wrong with a product: its worst element, or the row that Freivalds' check found; empty if all errors
/// are within their bounds.
std::string over_bound(const GemmError& error, const std::optional<FreivaldsResult>& freivalds);
/// Returns what was checked: "checked 16 of 4096 rows, and all by Freivalds"; empty if every row was compared.
std::string coverage(const Result& result);

} // namespace tessera::compare_app
