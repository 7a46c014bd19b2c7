#pragma once

/// The loops of the oracle, in which conformance spends most of its time.

#include <tessera/types.hpp>

namespace tessera::conformance {

/// Adds a·b[j] to sum[j], and |a·b[j]| to magnitude[j], for j < n. Products of f32 are exact.
void add_products(double a, const double* b, Index n, double* sum, double* magnitude);

/// Adds a·b[j] to sum[j] + lost[j], where lost[j] has what the roundings of sum[j] and of the products lose, and
/// |a·b[j]| to magnitude[j]. No product may be subnormal, infinite or a NaN. After k calls the error of sum[j] +
/// lost[j] is at most γ_k² times the magnitude. Source: Ogita, Rump and Oishi, "Accurate Sum and Dot Product", 2005,
/// algorithm Dot2.
void add_products(double a, const double* b, Index n, double* sum, double* lost, double* magnitude);

} // namespace tessera::conformance
