#pragma once

/// The QR factorisation by Householder's reflections, A = Q·R, and least squares: factor once, solve often.
///
///     const Qr factors(a);                    // a tall matrix, or any other
///     Matrix x = factors.least_squares(b);    // the X of the least ‖A·X − B‖; throws RankDeficient
///     Matrix q = factors.q(), r = factors.r();
///     Matrix y = least_squares(a, b);         // of a wide matrix: the solution of the least norm
///
/// A is m×n, f32, f64 or complex numbers of either (complex_matrix.hpp). Q has orthonormal columns, R is upper
/// triangular, and its diagonal is real; signs and norms are LAPACK's. 2·m·n² − 2/3·n³ operations for m ≥ n, and 4·m·n
/// for each right-hand side; four times as many with complex numbers. The bits of all results depend on A and B alone:
/// not on the backend, the threads or the processor (docs/contract.md, "QR"). A GPU that computes factors keeps them,
/// and results, until the host reads them.
///
/// Errors: InvalidArgument (shapes), RankDeficient, BackendUnavailable, OutOfMemory.
///
/// Source: Householder (1958); Golub (1965) for least squares; Higham, "Accuracy and Stability of Numerical
/// Algorithms", 2nd ed., chapters 19 and 20.

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include <tessera/linear_algebra/triangular.hpp>
#include <tessera/status.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// Thrown where least squares have no single solution: an element of R's diagonal is 0.
class TESSERA_API RankDeficient : public InvalidArgument {
 public:
  /// Makes the exception for this column, from 0 on.
  explicit RankDeficient(Index column);
  /// Ends the exception.
  ~RankDeficient() override;
  /// Returns the first column whose element on R's diagonal is 0, from 0 on.
  Index column() const noexcept { return column_; }

 private:
  Index column_;
};

namespace detail {
/// Factors A, m×n, in place: R on and above the diagonal, and below it the vectors v of the reflections I − tau·v·vᴴ,
/// without their ones. `stored` says whether the memory holds A or Aᵀ, row by row. `tau` has min(m, n) elements.
TESSERA_API void factor_qr(NumberType type, Op stored, Index m, Index n, void* a, Index lda, void* tau,
                           const SolveOptions& options, Shortage shortage = {});

/// The first k reflections of a factorisation: v of them lie below the diagonal of a matrix of m rows.
struct Reflections {
  NumberType type = {};
  Op stored = Op::None;
  Index m = 0;
  Index k = 0;
  const void* v = nullptr;
  Index ldv = 0;
  const void* tau = nullptr;
};
/// C, m×count, becomes Q·C for Op::None, and else Qᴴ·C. `stored` says whether the memory holds C or Cᵀ, row by row.
TESSERA_API void multiply_q(const Reflections& q, Op op, Op stored, Index count, void* c, Index ldc,
                            const SolveOptions& options, Shortage shortage = {});
/// A, m×n, whose first k columns hold reflections, k ≤ n ≤ m, becomes the first n columns of Q.
TESSERA_API void form_q(NumberType type, Op stored, Index m, Index n, Index k, void* a, Index lda, const void* tau,
                        const SolveOptions& options, Shortage shortage = {});
/// Multiplies a matrix in memory by 2^e and returns e. e is 0 unless the largest magnitude of a part is at least 2^103
/// (2^970 in f64), or below 2^−103 (2^−970) and not 0: then it comes to [2^102, 2^103), or to [2^−103, 2^−102). A
/// matrix with Inf or NaN stays as it is.
template <class T>
TESSERA_API int bring_into_range(Index rows, Index cols, T* a, Index lda);
/// Multiplies a matrix in memory by 2^exponent, −200 ≤ exponent ≤ 200 in f64 and half of that in f32; rounded once.
template <class T>
TESSERA_API void multiply_by_power(Index rows, Index cols, T* a, Index lda, int exponent);

/// Factors a matrix in place, on the device that computes it. `tau`, 1×min(m, n), takes the reflections' factors.
/// Returns the first column whose element of R's diagonal is 0, or −1.
template <class T>
TESSERA_API Index factor_qr(Matrix<T>& a, Matrix<T>& tau, const SolveOptions& options);
/// C becomes Q·C for Op::None, and else Qᴴ·C, by the factors in one matrix, on the device that computes it.
template <class T>
TESSERA_API void multiply_q(const Matrix<T>& qr, const Matrix<T>& tau, Op op, Matrix<T>& c,
                            const SolveOptions& options);
/// Returns the first min(m, n) ≥ 1 columns of Q, on the device that computes them.
template <class T>
TESSERA_API Matrix<T> form_q(const Matrix<T>& qr, const Matrix<T>& tau, const SolveOptions& options);
/// Returns the first `rows` ≥ 1 rows, with zeros below the diagonal, where the newest copy is.
template <class T>
TESSERA_API Matrix<T> upper_part(const Matrix<T>& a, Index rows);
/// Do the same as the functions of these names above, where the newest copy is.
template <class T>
TESSERA_API int bring_into_range(Matrix<T>& a);
template <class T>
TESSERA_API void multiply_by_power(Matrix<T>& a, int exponent);
/// Throws InvalidArgument where a right-hand side has another number of rows than `rows`, which the matrix asks for.
TESSERA_API void check_rows(const char* function, Index matrix_rows, Index matrix_cols, Index rows, Index given);
/// Throws InvalidArgument where a matrix has fewer rows than columns.
TESSERA_API void check_tall(const char* function, Index rows, Index cols);
} // namespace detail

namespace detail {
/// Returns the transpose, or the conjugate transpose of complex numbers.
template <MatrixLike A>
auto turned(const A& a) {
  if constexpr (Complex<typename A::value_type>)
    return conjugate_transpose(a);
  else
    return a.view().transposed();
}
} // namespace detail

namespace detail {
template <class T>
struct ScaledLeastSquares;
} // namespace detail

/// The factors Q and R of a matrix. Q is kept as the reflections that make it. They are the factors of the matrix as it
/// is: where the norm of a column is beyond the type's range, R has Inf.
template <class T>
requires detail::Solvable<T>
class Qr {
 public:
  /// Factors `a`, which may have any shape and any rank.
  template <MatrixLike A>
  explicit Qr(const A& a, const SolveOptions& options = {}) : Qr(options, Matrix<T>(a.view())) {}

  /// Returns both factors in one matrix, m×n: R on and above the diagonal, and below it the reflections' vectors.
  const Matrix<T>& packed() const noexcept { return qr_; }
  /// Returns the factors of the reflections I − tau·v·vᴴ, min(m, n) of them. 0: the reflection is the identity.
  std::span<const T> tau() const { return {tau_.data(), static_cast<std::size_t>(steps())}; }

  /// Returns R, min(m, n)×n, with zeros below its diagonal.
  Matrix<T> r() const { return steps() == 0 ? Matrix<T>(0, qr_.cols()) : detail::upper_part(qr_, steps()); }
  /// Returns the first min(m, n) columns of Q, m×min(m, n).
  Matrix<T> q() const { return steps() == 0 ? Matrix<T>(qr_.rows(), 0) : detail::form_q(qr_, tau_, options_); }

  /// Returns Q·B, where Q is the square one, m×m, and B has m rows.
  template <MatrixLike B>
  requires std::same_as<typename B::value_type, T> Matrix<T> multiply_q(const B& b)
  const { return product("Qr::multiply_q", Op::None, b); }
  /// Returns Qᵀ·B, or Qᴴ·B where B is complex.
  template <MatrixLike B>
  requires std::same_as<typename B::value_type, T> Matrix<T> multiply_q_transposed(const B& b)
  const { return product("Qr::multiply_q_transposed", Op::Transpose, b); }

  /// Returns the X, n×count, for which each column of A·X − B has the least norm. m ≥ n, and B has m rows. Of a square
  /// A it is the solution of A·X = B.
  template <MatrixLike B>
  requires std::same_as<typename B::value_type, T> Matrix<T> least_squares(const B& b)
  const {
    detail::check_tall("Qr::least_squares", qr_.rows(), qr_.cols());
    detail::check_rows("Qr::least_squares", qr_.rows(), qr_.cols(), qr_.rows(), b.rows());
    check_rank();
    const Matrix<T> rotated = multiply_q_transposed(b);
    return triangular_solve(Triangle::Upper, square(), rotated.block(0, 0, steps(), b.cols()), Side::Left,
                            Diagonal::Stored, options_);
  }
  /// Returns the X, m×count, of Aᵀ·X = B, or of Aᴴ·X = B where A is complex, whose columns have the least norm. m ≥ n,
  /// and B has n rows.
  template <MatrixLike B>
  requires std::same_as<typename B::value_type, T> Matrix<T> minimum_norm(const B& b)
  const {
    detail::check_tall("Qr::minimum_norm", qr_.rows(), qr_.cols());
    detail::check_rows("Qr::minimum_norm", qr_.rows(), qr_.cols(), qr_.cols(), b.rows());
    check_rank();
    const Matrix<T> y =
        triangular_solve(Triangle::Lower, detail::turned(square()), b, Side::Left, Diagonal::Stored, options_);
    Matrix<T> padded(qr_.rows(), b.cols());
    if (!y.empty()) {
      if constexpr (detail::Real<T>)
        padded.block(0, 0, y.rows(), y.cols()).assign(y.view());
      else
        detail::copy(y.operand(), padded.writable().block(0, 0, y.rows(), y.cols()).operand());
    }
    return multiply_q(padded);
  }

 private:
  friend struct detail::ScaledLeastSquares<T>;
  /// Factors `a` in its place.
  Qr(const SolveOptions& options, Matrix<T>&& a)
      : qr_(std::move(a)), tau_(1, std::min(qr_.rows(), qr_.cols())), options_(options) {
    if (!qr_.empty()) zero_ = detail::factor_qr(qr_, tau_, options);
  }

  Index steps() const { return tau_.cols(); }
  auto square() const { return qr_.block(0, 0, steps(), steps()); }

  void check_rank() const {
    if (zero_ >= 0) throw RankDeficient(zero_);
  }
  template <class B>
  Matrix<T> product(const char* function, Op op, const B& b) const {
    detail::check_rows(function, qr_.rows(), qr_.cols(), qr_.rows(), b.rows());
    Matrix<T> result(b.view());
    if (!result.empty() && steps() > 0) detail::multiply_q(qr_, tau_, op, result, options_);
    return result;
  }

  Matrix<T> qr_, tau_;
  Index zero_ = -1; ///< the first column whose element of R's diagonal is 0
  SolveOptions options_;
};

/// Factors a matrix in its own type.
template <MatrixLike A>
Qr(const A&) -> Qr<typename A::value_type>;
/// Factors a matrix in its own type.
template <MatrixLike A>
Qr(const A&, const SolveOptions&) -> Qr<typename A::value_type>;

namespace detail {
/// Least squares and solutions of the least norm whose operands are brought into the middle of the range.
template <class T>
struct ScaledLeastSquares {
  template <class A, class B>
  static Matrix<T> solve(const A& a, const B& b, const SolveOptions& options) {
    const bool is_tall = a.rows() >= a.cols();
    Matrix<T> matrix = is_tall ? Matrix<T>(a.view()) : Matrix<T>(turned(a).view()), right(b.view());
    const int of_a = scaled(matrix), of_b = scaled(right);
    const Qr<T> factors(options, std::move(matrix));
    Matrix<T> x = is_tall ? factors.least_squares(right) : factors.minimum_norm(right);
    if (!x.empty()) multiply_by_power(x, of_a - of_b);
    return x;
  }

 private:
  static int scaled(Matrix<T>& x) { return x.empty() ? 0 : bring_into_range(x); }
};
} // namespace detail

/// Returns the X for which each column of A·X − B has the least norm. A, m×n, has full rank. Where m < n, A·X = B has
/// many solutions, and the one whose columns have the least norm is returned. A and B may have numbers up to the ends
/// of the type's range: they are multiplied by powers of two first, and X at the end, which may overflow or underflow.
template <MatrixLike A, MatrixLike B>
requires detail::Solvable<typename A::value_type> && std::same_as<typename A::value_type, typename B::value_type>
    Matrix<typename A::value_type> least_squares(const A& a, const B& b, const SolveOptions& options = {}) {
  using T = typename A::value_type;
  detail::check_rows("least_squares", a.rows(), a.cols(), a.rows(), b.rows());
  return detail::ScaledLeastSquares<T>::solve(a, b, options);
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
