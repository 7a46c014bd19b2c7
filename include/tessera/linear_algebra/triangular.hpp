#pragma once

/// Systems and products with a triangular matrix.
///
///     Matrix x = triangular_solve(Triangle::Lower, t, b);                    // T·X = B
///     Matrix y = triangular_solve(Triangle::Upper, t.transposed(), b);      // with the upper triangle of tᵀ
///     Matrix z = triangular_multiply(Triangle::Lower, t, b);                 // T·B
///     trsm(Side::Left, Triangle::Lower, Op::None, Diagonal::Stored, m, n, alpha, t, ldt, b, ldb);  // in B's memory
///     trmm(Side::Right, Triangle::Upper, Op::ConjugateTranspose, Diagonal::Unit, m, n, alpha, t, ldt, b, ldb);
///
/// T is n×n; B is n×count (Side::Left) or count×n. n²·count operations. A zero on the diagonal of a system gives Inf or
/// NaN, as the division does. Elements are f32, f64 or complex numbers of either (complex_matrix.hpp). The bits depend
/// on T and B alone (docs/contract.md, "Linear algebra"). An X that a GPU's backend computed stays there.
///
/// Errors: InvalidArgument (shapes, null, T overlapping B), BackendUnavailable, OutOfMemory, which leaves B as it was:
/// where memory gets short after a part of B was written, slow loops go on without. T is never changed.
///
/// Source: the level 3 BLAS's TRSM and TRMM; the order of operations is Tessera's own.

#include <array>
#include <type_traits>

#include <tessera/detail/number_type.hpp>
#include <tessera/linear_algebra/complex_matrix.hpp>
#include <tessera/linear_algebra/options.hpp>
#include <tessera/matrix.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

namespace detail {
/// op(T) and B in host memory; the result takes B's place. Leading dimensions count elements between stored rows.
template <class T>
struct TriangularCall {
  Side side = Side::Left;
  Triangle triangle = Triangle::Lower; ///< the one that is stored in t
  Op op = Op::None;
  Diagonal diagonal = Diagonal::Stored;
  Index n = 0;
  Index count = 0; ///< columns of B on the left side, rows on the right one
  T alpha = 1;
  const T* t = nullptr;
  Index ldt = 0;
  T* b = nullptr;
  Index ldb = 0;
};
/// Solve op(T)·X = alpha·B or X·op(T) = alpha·B, and compute alpha·op(T)·B or alpha·B·op(T), for each RealOrComplex T.
/// The caller has checked the sizes.
template <class T>
TESSERA_API void triangular_solve(const TriangularCall<T>& call, const SolveOptions& options, Shortage shortage = {});
template <class T>
TESSERA_API void triangular_multiply(const TriangularCall<T>& call, const SolveOptions& options,
                                     Shortage shortage = {});
/// Solves with one call after the other, whose triangles are in one square of memory, and whose unknowns are in one
/// place: where a device solves them, both are copied there once.
template <class T>
TESSERA_API void solve_with_factors(const std::array<TriangularCall<T>, 2>& calls, const SolveOptions& options,
                                    Shortage shortage = {});
/// A triangle of a matrix, and how it stands in a system.
struct TriangularForm {
  Side side = Side::Left;
  Triangle triangle = Triangle::Lower; ///< the one that is stored
  Op op = Op::None;
  Diagonal diagonal = Diagonal::Stored;
};
/// Solves op(T)·X = B or X·op(T) = B; X takes B's place, on the device that computes it. The sizes are checked.
template <class T>
TESSERA_API void solve_triangle(const TriangularForm& form, const Matrix<T>& t, Matrix<T>& x,
                                const SolveOptions& options);
/// op(T)·B or B·op(T) takes B's place, likewise.
template <class T>
TESSERA_API void multiply_triangle(const TriangularForm& form, const Matrix<T>& t, Matrix<T>& x,
                                   const SolveOptions& options);
/// Throws InvalidArgument where the matrix is not square, or has another number of rows than the right-hand side.
TESSERA_API void check_system(const char* function, Index rows, Index cols, Index unknowns, Side side);
/// Throws InvalidArgument where sizes, leading dimensions or pointers are wrong, or T's triangle overlaps B.
TESSERA_API void check_triangular(const char* function, Triangle triangle, Index n, const void* t, Index ldt, Index m,
                                  Index count, const void* b, Index ldb, std::size_t element);

/// Elements that matrices of linear algebra have.
template <class T>
concept Solvable = RealOrComplex<T>;

template <class T>
TriangularCall<T> checked_triangular(const char* function, Side side, Triangle triangle, Op op, Diagonal diagonal,
                                     Index m, Index n, T alpha, const T* t, Index ldt, T* b, Index ldb) {
  const bool is_left = side == Side::Left;
  check_triangular(function, triangle, is_left ? m : n, t, ldt, m, n, b, ldb, sizeof(T));
  return {side, triangle, op, diagonal, is_left ? m : n, is_left ? n : m, alpha, t, ldt, b, ldb};
}

template <class A, class B>
TriangularCall<typename A::value_type> triangular_call(const char* function, Side side, Triangle triangle,
                                                       Diagonal diagonal, const A& t, B& x) {
  const bool is_left = side == Side::Left;
  check_system(function, t.rows(), t.cols(), is_left ? x.rows() : x.cols(), side);
  return {.side = side,
          .triangle = triangle,
          .diagonal = diagonal,
          .n = t.rows(),
          .count = is_left ? x.cols() : x.rows(),
          .t = t.data(),
          .ldt = t.ld(),
          .b = x.data(),
          .ldb = x.ld()};
}
} // namespace detail

/// Solves op(T)·X = alpha·B or X·op(T) = alpha·B in the caller's row-major host memory; X takes the place of B, m×n.
template <class T>
requires detail::RealOrComplex<T>
void trsm(Side side, Triangle triangle, Op op, Diagonal diagonal, Index m, Index n, std::type_identity_t<T> alpha,
          const T* t, Index ldt, T* b, Index ldb, const SolveOptions& options = {}) {
  detail::triangular_solve(
      detail::checked_triangular("trsm", side, triangle, op, diagonal, m, n, alpha, t, ldt, b, ldb), options);
}

/// B := alpha·op(T)·B or alpha·B·op(T) in the caller's row-major host memory; B is m×n.
template <class T>
requires detail::RealOrComplex<T>
void trmm(Side side, Triangle triangle, Op op, Diagonal diagonal, Index m, Index n, std::type_identity_t<T> alpha,
          const T* t, Index ldt, T* b, Index ldb, const SolveOptions& options = {}) {
  detail::triangular_multiply(
      detail::checked_triangular("trmm", side, triangle, op, diagonal, m, n, alpha, t, ldt, b, ldb), options);
}

/// Returns X. `triangle` names the half of `t`, as the argument is, that is read.
template <MatrixLike A, MatrixLike B>
requires detail::Solvable<typename A::value_type> && std::same_as<typename A::value_type, typename B::value_type>
    Matrix<typename A::value_type> triangular_solve(Triangle triangle, const A& t, const B& b, Side side = Side::Left,
                                                    Diagonal diagonal = Diagonal::Stored,
                                                    const SolveOptions& options = {}) {
  const Matrix<typename A::value_type> matrix(t.view());
  Matrix<typename A::value_type> x(b.view());
  detail::check_system("triangular_solve", t.rows(), t.cols(), side == Side::Left ? x.rows() : x.cols(), side);
  detail::solve_triangle({side, triangle, Op::None, diagonal}, matrix, x, options);
  return x;
}

/// Returns T·B or B·T. `triangle` names the half of `t`, as the argument is, that is read.
template <MatrixLike A, MatrixLike B>
requires detail::Solvable<typename A::value_type> && std::same_as<typename A::value_type, typename B::value_type>
    Matrix<typename A::value_type> triangular_multiply(Triangle triangle, const A& t, const B& b,
                                                       Side side = Side::Left, Diagonal diagonal = Diagonal::Stored,
                                                       const SolveOptions& options = {}) {
  const Matrix<typename A::value_type> matrix(t.view());
  Matrix<typename A::value_type> x(b.view());
  detail::check_system("triangular_multiply", t.rows(), t.cols(), side == Side::Left ? x.rows() : x.cols(), side);
  detail::multiply_triangle({side, triangle, Op::None, diagonal}, matrix, x, options);
  return x;
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
