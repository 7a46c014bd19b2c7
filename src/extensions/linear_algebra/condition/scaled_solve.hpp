#pragma once

/// Systems whose solutions may be beyond the ends of their type's range.

#include <vector>

#include <tessera/linear_algebra/condition.hpp>

namespace tessera::linear_algebra {

/// Replaces x by the solution of A·x = b, or of Aᴴ·x = b with `turned`, divided by 2^e, and returns e. An ordinary
/// solution has e = 0. Where its magnitudes have no finite sum in double, or the largest one is close to underflow, the
/// system is solved with exponents that have no bounds, and e brings the solution's largest part to [1/2, 1).
template <class T>
int solve_scaled(const detail::FactoredSystem<T>& a, bool turned, std::vector<T>& x);

} // namespace tessera::linear_algebra
