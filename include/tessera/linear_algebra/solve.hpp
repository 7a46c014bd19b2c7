#pragma once

/// Linear systems and inverses of general square matrices, by LU with partial pivoting.
///
///     Matrix x = solve(a, b);         // A·X = B
///     Matrix y = inverse(a);          // a solution is better where one is enough
///
/// A is n×n, B n×count, f32 or f64. The bits of the result depend on A and B alone (docs/contract.md, "Linear
/// algebra"). Errors: InvalidArgument (shapes), SingularMatrix (a pivot is 0), BackendUnavailable, OutOfMemory. A
/// matrix that is nearly singular is no error: the solution is one of a system near this one.

#include <tessera/linear_algebra/lu.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// Returns X of A·X = B.
template <MatrixLike A, MatrixLike B>
requires detail::Solvable<typename A::value_type> && std::same_as<typename A::value_type, typename B::value_type>
    Matrix<typename A::value_type> solve(const A& a, const B& b, const SolveOptions& options = {}) {
  detail::check_system("solve", a.rows(), a.cols(), b.rows(), Side::Left);
  return Lu<typename A::value_type>(a, options).solve(b);
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
