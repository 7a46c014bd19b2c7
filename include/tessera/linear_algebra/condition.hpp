#pragma once

/// Estimates of a matrix's condition number in the 1-norm, κ = ‖A‖·‖A⁻¹‖: by how much a change of A or B may be larger
/// in the solution.
///
///     const double k = Lu(a).condition();     // or Cholesky(a).condition()
///     if (k * 0x1p-53 > 1e-6) …               // fewer than six digits of x are sure
///
/// The estimate is no more than κ but for rounding, and rarely less than a third of it. It costs up to eleven systems
/// with the factors. Its bits depend on A alone. Magnitudes of complex numbers are √(re² + im²), in double.
///
/// Source: Hager (1984); Higham, "FORTRAN codes for estimating the one-norm" (1988), as LAPACK's lacn2 has it.

#include <functional>
#include <vector>

#include <tessera/detail/export.hpp>
#include <tessera/linear_algebra/complex_matrix.hpp>
#include <tessera/matrix.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail {

/// Solves a system in the place of its right-hand side.
template <class T>
using InPlace = std::function<void(std::vector<T>& x)>;

/// Returns the function that takes a vector to solve(column).
template <class T, class Solve>
InPlace<T> in_place(Solve solve) {
  return [solve](std::vector<T>& x) {
    const Matrix<T> result = solve(MatrixView<T>::wrap(x.data(), static_cast<Index>(x.size()), 1, 1));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = result(static_cast<Index>(i), 0);
  };
}

/// Returns norm·‖A⁻¹‖₁, which is estimated by systems with A and with Aᴴ; n ≥ 1.
template <class T>
TESSERA_API double condition_of(double norm, Index n, const InPlace<T>& solve, const InPlace<T>& solve_transposed);

/// Returns ‖A‖₁, the largest sum of a column's magnitudes, in double; of a symmetric or Hermitian matrix, whose lower
/// triangle is read.
template <class T>
TESSERA_API double norm_1(const Matrix<T>& a);
template <class T>
TESSERA_API double norm_1_of_lower(const Matrix<T>& a);

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
