#pragma once

/// Estimates of a matrix's condition number in the 1-norm, κ = ‖A‖·‖A⁻¹‖: by how much a change of A or B may be larger
/// in the solution.
///
///     const double k = Lu(a).condition();     // or Cholesky(a).condition()
///     if (k * 0x1p-53 > 1e-6) …               // fewer than six digits of x are sure
///
/// The estimate is no more than κ but for rounding, and rarely less than a third of it. It costs up to eleven systems
/// with the factors. Norms and solutions may be beyond the ends of A's type. The bits depend on A alone. Magnitudes of
/// complex numbers are √(re² + im²), in double.
///
/// Source: Hager (1984); Higham, "FORTRAN codes for estimating the one-norm" (1988), as LAPACK's lacn2 has it.

#include <span>

#include <tessera/detail/export.hpp>
#include <tessera/linear_algebra/complex_matrix.hpp>
#include <tessera/linear_algebra/triangular.hpp>
#include <tessera/matrix.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail {

/// The number value·2^exponent, which may be beyond the ends of double's range.
struct ScaledNumber {
  double value = 0;
  int exponent = 0;
};

/// A matrix as the product of triangles, n×n, n ≥ 1. A·x = b is solved by exchanging row j of b with row exchanges[j]
/// for ascending j, and then with the triangles in their order, on either side of x; b, `count` and alpha are not
/// looked at. The memory is the caller's.
template <class T>
struct FactoredSystem {
  TriangularCall<T> triangles[2];
  int count = 1; ///< of the triangles
  std::span<const Index> exchanges = {};
};

/// Returns an estimate of ‖A⁻¹‖₁, or of ‖A⁻ᴴ‖₁ with `turned`, by systems with A and with Aᴴ on the host, in the calling
/// thread. No zero is on a diagonal.
template <class T>
TESSERA_API ScaledNumber norm_of_inverse(const FactoredSystem<T>& a, bool turned);
/// Returns norm·inverse.
TESSERA_API double condition_of(const ScaledNumber& norm, const ScaledNumber& inverse);
/// Returns (1 / inverse) / norm, or 0 where `inverse` is 0; P is float or double.
template <class P>
TESSERA_API P reciprocal_condition_of(const ScaledNumber& norm, const ScaledNumber& inverse);

/// Returns ‖A‖₁, the largest sum of a column's magnitudes, in double; of a symmetric or Hermitian matrix, whose lower
/// triangle is read; of a triangle in the caller's row-major memory, or with `of_rows` the largest sum of a row.
template <class T>
TESSERA_API ScaledNumber norm_1(const Matrix<T>& a);
template <class T>
TESSERA_API ScaledNumber norm_1_of_lower(const Matrix<T>& a);
template <class T>
TESSERA_API ScaledNumber norm_of_triangle(Triangle triangle, Diagonal diagonal, Index n, const T* a, Index lda,
                                          bool of_rows);

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
