#pragma once

/// The LU factorisation with partial pivoting, P·A = L·U: factor once, solve often.
///
///     const Lu factors(a);
///     Matrix x = factors.solve(b);      // A·X = B; throws SingularMatrix where a pivot is 0
///
/// A is m×n, f32, f64 or complex numbers of either (complex_matrix.hpp); what solves needs a square one. 2/3·n³
/// operations, and 2·n² for each right-hand side; four times as many with complex numbers. The pivot of a column is its
/// largest magnitude, |re| + |im| of complex numbers, the first of equals; NaN counts as the largest. The bits of L, U
/// and X depend on A and B alone: not on the backend, the threads or the processor (docs/contract.md, "Linear
/// algebra"). Factors and solutions stay on the GPU whose backend computed
/// them, until the host reads them.
///
/// Errors: InvalidArgument (shapes), SingularMatrix, BackendUnavailable, OutOfMemory.
///
/// Source: Gauss; Crout (1941) for the order; Higham, "Accuracy and Stability of Numerical Algorithms", chapter 9.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <tessera/linear_algebra/condition.hpp>
#include <tessera/linear_algebra/triangular.hpp>
#include <tessera/status.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// Thrown where a system is to be solved whose matrix has a pivot of 0.
class TESSERA_API SingularMatrix : public InvalidArgument {
 public:
  /// Makes the exception for this pivot, from 0 on.
  explicit SingularMatrix(Index pivot);
  /// Ends the exception.
  ~SingularMatrix() override;
  /// Returns the first pivot that is 0, from 0 on.
  Index pivot() const noexcept { return pivot_; }

 private:
  Index pivot_;
};

namespace detail {
/// Numbers of rows as their owner stores them.
class RowNumbers {
 public:
  /// Counted from 0.
  explicit RowNumbers(Index* numbers) noexcept : numbers_(numbers), is_wide_(true), base_(0) {}
  /// Counted from 1, as Fortran counts; of 64 bits where is_wide, else of 32.
  RowNumbers(void* numbers, bool is_wide) noexcept : numbers_(numbers), is_wide_(is_wide), base_(1) {}
  /// Returns number j, counted from 0.
  Index operator[](Index j) const noexcept {
    return (is_wide_ ? static_cast<const Index*>(numbers_)[j] : static_cast<const std::int32_t*>(numbers_)[j]) - base_;
  }
  /// Sets number j to `row`, which is counted from 0.
  void set(Index j, Index row) const noexcept {
    if (is_wide_)
      static_cast<Index*>(numbers_)[j] = row + base_;
    else
      static_cast<std::int32_t*>(numbers_)[j] = static_cast<std::int32_t>(row + base_);
  }

 private:
  void* numbers_;
  bool is_wide_;
  Index base_;
};

/// Factors A, m×n, in place: L without its diagonal of ones, and U. `stored` says whether the memory holds A or Aᵀ, row
/// by row. `pivots` takes min(m, n) numbers of rows. Step j of the elimination exchanged row j of A with row pivots[j];
/// the steps ascend from 0. Returns the first pivot that is 0, or −1.
TESSERA_API Index factor_lu(NumberType type, Op stored, Index m, Index n, void* a, Index lda, RowNumbers pivots,
                            const SolveOptions& options, Shortage shortage = {});
/// Factors a matrix in place, on the device that computes it. `norm` becomes its norm in the 1-norm. Returns what the
/// function above returns.
template <class T>
TESSERA_API Index factor_lu(Matrix<T>& a, std::span<Index> pivots, ScaledNumber& norm, const SolveOptions& options);
/// Solves op(A)·X = B by A's factors; X takes B's place, on the device that computes it. The sizes are checked.
template <class T>
TESSERA_API void solve_factored(const Matrix<T>& lu, std::span<const Index> pivots, Op op, Matrix<T>& x,
                                const SolveOptions& options);
/// Throws InvalidArgument where a function of a square matrix is called for another one.
TESSERA_API void check_square(const char* function, Index rows, Index cols);
} // namespace detail

/// The determinant's sign and the logarithm of its magnitude.
struct SignedLogarithm {
  int sign = 1;         ///< −1, 0 or 1
  double logarithm = 0; ///< −Inf where the sign is 0
};

/// The same of complex numbers.
struct ComplexLogarithm {
  std::complex<double> sign = 1; ///< det / |det|, or 0
  double logarithm = 0;          ///< −Inf where the sign is 0
};

namespace detail {
/// What determinants of a type of elements are.
template <class T>
struct Determinant {
  using Number = double;
  using Logarithm = SignedLogarithm;
};
template <Complex T>
struct Determinant<T> {
  using Number = std::complex<double>;
  using Logarithm = ComplexLogarithm;
};
/// Return what Lu says of its determinant, from both factors in one square matrix and the rows that changed places.
template <class T>
TESSERA_API typename Determinant<T>::Number determinant_of(const Matrix<T>& lu, std::span<const Index> pivots);
template <class T>
TESSERA_API typename Determinant<T>::Logarithm log_determinant_of(const Matrix<T>& lu, std::span<const Index> pivots);
} // namespace detail

/// The factors L and U of a matrix, and its permutation of rows.
template <class T>
requires detail::Solvable<T>
class Lu {
 public:
  /// Factors `a`, which may be singular and of any shape.
  template <MatrixLike A>
  explicit Lu(const A& a, const SolveOptions& options = {})
      : lu_(a.view()), pivots_(static_cast<std::size_t>(std::min(a.rows(), a.cols()))), options_(options) {
    detail::expect_no_refinement("Lu", options);
    if (lu_.empty()) return;
    zero_pivot_ = detail::factor_lu(lu_, std::span(pivots_), norm_, options);
  }

  /// Returns both factors in one matrix, m×n: L below the diagonal, whose own diagonal is ones, and U.
  const Matrix<T>& packed() const noexcept { return lu_; }
  /// Returns the rows that changed places: row j with row pivots()[j], in ascending j.
  std::span<const Index> pivots() const noexcept { return pivots_; }
  /// Is there a pivot of 0?
  bool is_singular() const noexcept { return zero_pivot_ >= 0; }

  /// Returns X of A·X = B.
  template <MatrixLike B>
  requires std::same_as<typename B::value_type, T> Matrix<T> solve(const B& b)
  const { return solve("Lu::solve", Op::None, b); }
  /// Returns X of Aᵀ·X = B.
  template <MatrixLike B>
  requires std::same_as<typename B::value_type, T> Matrix<T> solve_transposed(const B& b)
  const { return solve("Lu::solve_transposed", Op::Transpose, b); }
  /// Returns X of Aᴴ·X = B, where the transpose is conjugated.
  template <MatrixLike B>
  requires std::same_as<typename B::value_type, T> Matrix<T> solve_conjugate_transposed(const B& b)
  const { return solve("Lu::solve_conjugate_transposed", Op::ConjugateTranspose, b); }
  /// Returns the inverse of A: the solution for the identity.
  Matrix<T> inverse() const { return solve(Matrix<T>::identity(lu_.rows())); }

  /// Returns an estimate of A's condition number in the 1-norm (condition.hpp): Inf where a pivot is 0, and 0 for no
  /// rows.
  double condition() const {
    detail::check_square("Lu::condition", lu_.rows(), lu_.cols());
    if (lu_.empty()) return 0;
    if (is_singular()) return std::numeric_limits<double>::infinity();
    const auto factor = [&](Triangle triangle, Diagonal diagonal) {
      return detail::TriangularCall<T>{
          .triangle = triangle, .diagonal = diagonal, .n = lu_.rows(), .t = lu_.data(), .ldt = lu_.ld()};
    };
    const detail::FactoredSystem<T> system{
        {factor(Triangle::Lower, Diagonal::Unit), factor(Triangle::Upper, Diagonal::Stored)}, 2, pivots()};
    return detail::condition_of(norm_, detail::norm_of_inverse(system, false));
  }

  /// Returns the product of U's diagonal, in double, in ascending order, with the permutation's sign: a double, or a
  /// complex one. No product on the way overflows or underflows, but the determinant may, or a part of it: to Inf of
  /// its sign or to 0, where log_determinant() does not.
  auto determinant() const {
    detail::check_square("Lu::determinant", lu_.rows(), lu_.cols());
    return detail::determinant_of(lu_, pivots());
  }
  /// Returns sign(det A) and log|det A|, the sum of the logarithms of U's diagonal, added in double in ascending order:
  /// a SignedLogarithm, or a ComplexLogarithm.
  auto log_determinant() const {
    detail::check_square("Lu::log_determinant", lu_.rows(), lu_.cols());
    return detail::log_determinant_of(lu_, pivots());
  }

 private:
  template <class B>
  Matrix<T> solve(const char* function, Op op, const B& b) const {
    detail::check_system(function, lu_.rows(), lu_.cols(), b.rows(), Side::Left);
    if (is_singular()) throw SingularMatrix(zero_pivot_);
    Matrix<T> x(b.view());
    if (!x.empty()) detail::solve_factored(lu_, pivots(), op, x, options_);
    return x;
  }

  Matrix<T> lu_;
  detail::ScaledNumber norm_; ///< ‖A‖₁
  std::vector<Index> pivots_;
  Index zero_pivot_ = -1;
  SolveOptions options_;
};

/// Factors a matrix in its own type.
template <MatrixLike A>
Lu(const A&) -> Lu<typename A::value_type>;
/// Factors a matrix in its own type.
template <MatrixLike A>
Lu(const A&, const SolveOptions&) -> Lu<typename A::value_type>;

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
