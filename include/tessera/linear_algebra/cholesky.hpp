#pragma once

/// Cholesky's factorisation of a symmetric or Hermitian positive definite matrix, A = L·Lᵀ or L·Lᴴ: factor once, solve
/// often.
///
///     const Cholesky factors(a);              // throws NotPositiveDefinite
///     Matrix x = factors.solve(b);            // A·X = B
///     double d = factors.log_determinant();
///
/// A is n×n, f32, f64 or complex numbers of either (complex_matrix.hpp), and one triangle of it is read; imaginary
/// parts of the diagonal are taken as 0. n³/3 operations, and 2·n² for each right-hand side; four times as many with
/// complex numbers. The bits of L and of X depend on A and B alone: not on the backend, the threads or the processor
/// (docs/contract.md, "Linear algebra"). Factors and solutions stay on the GPU whose backend computed them, until the
/// host reads them.
///
/// Errors: InvalidArgument (not square, another number of rows), NotPositiveDefinite, BackendUnavailable, OutOfMemory.
///
/// Source: A.-L. Cholesky; Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., chapter 10.

#include <tessera/linear_algebra/condition.hpp>
#include <tessera/linear_algebra/triangular.hpp>
#include <tessera/status.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// Thrown where a leading minor of the matrix is not positive, in exact arithmetic or in the type's.
class TESSERA_API NotPositiveDefinite : public InvalidArgument {
 public:
  /// Makes the exception for the leading minor of this order, from 1 on.
  explicit NotPositiveDefinite(Index minor);
  /// Ends the exception.
  ~NotPositiveDefinite() override;
  /// Returns the order of the first leading minor that is not positive, from 1 on.
  Index minor() const noexcept { return minor_; }

 private:
  Index minor_;
};

namespace detail {
/// Factors a matrix in place: the lower triangle becomes L, or the upper one the transpose of the L of Aᵀ. The other
/// triangle is not touched. Returns n, or the row at which the number below the root is not positive; the rows before
/// it are done.
TESSERA_API Index factor_cholesky(NumberType type, Triangle triangle, Index n, void* a, Index lda,
                                  const SolveOptions& options, Shortage shortage = {});
/// Factors the lower triangle of a matrix in place, on the device that computes it; zeros are above it then. `norm`
/// becomes the matrix's norm in the 1-norm. Returns what the function above returns.
template <class T>
TESSERA_API Index factor_cholesky(Matrix<T>& a, ScaledNumber& norm, const SolveOptions& options);
/// Returns log(det(L·Lᴴ)) of a triangle L whose diagonal is positive.
template <class T>
TESSERA_API double log_determinant_of_square(const Matrix<T>& l);
} // namespace detail

/// The factor L of a matrix.
template <class T>
requires detail::Solvable<T>
class Cholesky {
 public:
  /// Factors `a`, of which one triangle is read.
  template <MatrixLike A>
  explicit Cholesky(const A& a, Triangle triangle = Triangle::Lower, const SolveOptions& options = {})
      : l_(square_copy(a, triangle)), options_(options) {
    detail::expect_no_refinement("Cholesky", options);
    if (l_.empty()) return;
    const Index done = detail::factor_cholesky(l_, norm_, options);
    if (done < l_.rows()) throw NotPositiveDefinite(done + 1);
  }

  /// Returns L, lower triangular with zeros above the diagonal.
  const Matrix<T>& l() const noexcept { return l_; }

  /// Returns X of A·X = B.
  template <MatrixLike B>
  requires std::same_as<typename B::value_type, T> Matrix<T> solve(const B& b)
  const {
    detail::check_system("Cholesky::solve", l_.rows(), l_.cols(), b.rows(), Side::Left);
    Matrix<T> x(b.view());
    if (x.empty()) return x;
    for (const Op op : {Op::None, Op::ConjugateTranspose})
      detail::solve_triangle({Side::Left, Triangle::Lower, op, Diagonal::Stored}, l_, x, options_);
    return x;
  }
  /// Returns an estimate of A's condition number in the 1-norm (condition.hpp); 0 for no rows.
  double condition() const {
    if (l_.empty()) return 0;
    const auto factor = [&](Op op) {
      return detail::TriangularCall<T>{.op = op, .n = l_.rows(), .t = l_.data(), .ldt = l_.ld()};
    };
    const detail::FactoredSystem<T> system{{factor(Op::None), factor(Op::ConjugateTranspose)}, 2};
    return detail::condition_of(norm_, detail::norm_of_inverse(system, false));
  }
  /// Returns the inverse of A: the solution for the identity.
  Matrix<T> inverse() const { return solve(Matrix<T>::identity(l_.rows())); }
  /// Returns log(det A), twice the sum of the logarithms of L's diagonal, added in double in ascending order.
  double log_determinant() const { return detail::log_determinant_of_square(l_); }

 private:
  template <class A>
  static Matrix<T> square_copy(const A& a, Triangle triangle) {
    detail::check_system("Cholesky", a.rows(), a.cols(), a.rows(), Side::Left);
    return triangle == Triangle::Lower ? Matrix<T>(a.view()) : conjugate_transpose(a);
  }

  Matrix<T> l_;
  detail::ScaledNumber norm_; ///< ‖A‖₁
  SolveOptions options_;
};

/// Factors a matrix in its own type.
template <MatrixLike A>
Cholesky(const A&) -> Cholesky<typename A::value_type>;
/// Factors a matrix in its own type.
template <MatrixLike A>
Cholesky(const A&, Triangle) -> Cholesky<typename A::value_type>;
/// Factors a matrix in its own type.
template <MatrixLike A>
Cholesky(const A&, Triangle, const SolveOptions&) -> Cholesky<typename A::value_type>;

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
