#pragma once

/// The solution that an estimate of ‖A⁻¹‖ is made from.

#include <tessera/linear_algebra/condition.hpp>

namespace tessera::detail {

/// Does what norm_of_inverse() does, and writes the solution x of A·x = w, or of Aᴴ·x = w with `turned`, that had the
/// largest ‖x‖₁ / ‖w‖₁ of the systems that were solved: n numbers, divided by a power of two that brings the largest
/// one near 1. It is close to A's null space where A is nearly singular. `solution` may be null.
///
/// Source: Higham, FORTRAN codes for estimating the one-norm, 1988: the vector v of his algorithm.
template <class T>
TESSERA_API ScaledNumber norm_of_inverse_with_solution(const FactoredSystem<T>& a, bool turned, T* solution);

} // namespace tessera::detail
