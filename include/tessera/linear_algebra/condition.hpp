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

/// Returns the estimate of ‖A⁻¹‖₁ for n ≥ 1, by systems with A and with Aᴴ.
template <class T>
TESSERA_API double norm_of_inverse(Index n, const InPlace<T>& solve, const InPlace<T>& solve_transposed);

/// Returns ‖A‖₁, the largest sum of a column's magnitudes, in double; of a symmetric or Hermitian matrix, whose lower
/// triangle is read.
template <class T>
TESSERA_API double norm_1(const Matrix<T>& a);
template <class T>
TESSERA_API double norm_1_of_lower(const Matrix<T>& a);

/// Returns x·y in the order of docs/contract.md ("Complex products").
TESSERA_API std::complex<double> product_of(std::complex<double> x, std::complex<double> y);

/// A complex number as its direction and the logarithm of its magnitude.
struct Polar {
  std::complex<double> direction; ///< x / |x|; 0 for 0
  double logarithm;               ///< −Inf for 0
};
/// Returns both, which neither overflow nor underflow (docs/contract.md, "Linear algebra").
TESSERA_API Polar polar_of(std::complex<double> x);

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
