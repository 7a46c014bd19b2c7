#pragma once

/// Linear systems and inverses of general square matrices, by LU with partial pivoting.
///
///     Matrix x = solve(a, b);         // A·X = B
///     Matrix y = inverse(a);          // a solution is better where one is enough
///     Matrix z = solve(a, b, {.refine = true}); // f64, and complex of it: factored in f32, refined and certified
///
/// A is n×n, B n×count, f32, f64 or complex numbers of either. The bits of the result depend on A and B alone
/// (docs/contract.md, "Linear algebra"). Errors: InvalidArgument (shapes), SingularMatrix (a pivot is 0),
/// BackendUnavailable, OutOfMemory. A matrix that is nearly singular is no error: the solution is one of a system near
/// this one.
///
/// With refine each column is scaled and corrected by itself until nothing is gained, and X is certified: each column
/// solves a system whose elements differ from A's and B's by at most 3·(n + 10)·2⁻⁵³ of themselves (2·√2 times that
/// with complex numbers), by the theorem that check_solve.hpp names; docs/linear_algebra.md has the proof. Where
/// factors in f32 do not lead there, as for most matrices with a condition number above 10⁷, NotRefined is thrown.
/// Faster than f64 from some thousand rows on. With real numbers and {.refine = true, .math = Math::EmulatedFp16x3}
/// most of the factorisation runs on the matrix units of a GPU that has them; the solution is certified as well.
///
/// Source: Wilkinson (1963) for the refinement; Langou et al., "Exploiting the performance of 32 bit floating point
/// arithmetic in obtaining 64 bit accuracy" (2006) for factors of less precision.

#include <complex>
#include <string>

#include <tessera/linear_algebra/lu.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// Thrown where factors in f32 do not lead to a solution in f64.
class TESSERA_API NotRefined : public InvalidArgument {
 public:
  /// Makes the exception with its reason.
  explicit NotRefined(const std::string& why);
  /// Ends the exception.
  ~NotRefined() override;
};

namespace detail {
/// Returns X of A·X = B by factors in f32, refined. The sizes are checked.
TESSERA_API Matrix<double> solve_refined(const Matrix<double>& a, const Matrix<double>& b, const SolveOptions& options);
/// Does it with complex numbers.
TESSERA_API Matrix<std::complex<double>> solve_refined(const Matrix<std::complex<double>>& a,
                                                       const Matrix<std::complex<double>>& b,
                                                       const SolveOptions& options);
/// Returns the matrix itself, or a copy of another operand.
template <class T>
const Matrix<T>& as_matrix(const Matrix<T>& x) {
  return x;
}
template <MatrixLike M>
Matrix<typename M::value_type> as_matrix(const M& x) {
  return Matrix<typename M::value_type>(x.view());
}
} // namespace detail

/// Returns X of A·X = B.
template <MatrixLike A, MatrixLike B>
requires detail::Solvable<typename A::value_type> && std::same_as<typename A::value_type, typename B::value_type>
    Matrix<typename A::value_type> solve(const A& a, const B& b, const SolveOptions& options = {}) {
  using T = typename A::value_type;
  detail::check_system("solve", a.rows(), a.cols(), b.rows(), Side::Left);
  if constexpr (std::same_as<T, double> || std::same_as<T, std::complex<double>>) {
    if (options.refine) return detail::solve_refined(detail::as_matrix(a), detail::as_matrix(b), options);
  } else {
    if (options.refine)
      throw InvalidArgument(std::string("solve: refine is for f64, and the matrix is of ") +
                            (detail::Complex<T> ? "complex numbers of f32" : "f32") + "; solve it without refine");
  }
  return Lu<T>(a, options).solve(b);
}

/// Returns the inverse of A.
template <MatrixLike A>
requires detail::Solvable<typename A::value_type> Matrix<typename A::value_type> inverse(
    const A& a, const SolveOptions& options = {}) {
  detail::check_square("inverse", a.rows(), a.cols());
  return Lu<typename A::value_type>(a, options).inverse();
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
