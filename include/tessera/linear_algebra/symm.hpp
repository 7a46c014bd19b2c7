#pragma once

/// Products with a symmetric or Hermitian matrix of which one triangle is stored.
///
///     Matrix c = symmetric_multiply(Triangle::Lower, a, b);                   // A·B
///     Matrix d = symmetric_multiply(Triangle::Lower, a, b, Side::Right);      // B·A
///     hemm(Side::Left, Triangle::Upper, m, n, alpha, a, lda, b, ldb, beta, c, ldc);   // in the caller's memory
///
/// A is m×m (Side::Left) or n×n; B and C are m×n. Numbers are f32, f64 or complex of these. Each element has the bits
/// that gemm gives it with the whole A (docs/contract.md, "Linear algebra"), on every backend. 2·m·n·(m or n)
/// operations; A is read as it is stored, or written out in scratch memory, in panels of at most 64 MiB or 512 rows.
/// Results are in host memory.
///
/// Errors: InvalidArgument (shapes, leading dimensions, null, C overlapping A or B), BackendUnavailable,
/// OutOfMemory, which leaves C as it was, as triangular.hpp says of B.
///
/// Source: the level 3 BLAS's SYMM and HEMM.

#include <type_traits>

#include <tessera/linear_algebra/triangular.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

namespace detail {
/// C := alpha·A·B + beta·C or alpha·B·A + beta·C, row-major in host memory.
template <class T>
struct SymmetricCall {
  bool is_hermitian = false; ///< then the imaginary parts of A's diagonal are taken as 0
  Side side = Side::Left;    ///< of A
  Triangle triangle = Triangle::Lower;
  Index m = 0, n = 0;
  T alpha = 1;
  const T* a = nullptr;
  Index lda = 0;
  const T* b = nullptr;
  Index ldb = 0;
  T beta = 0;
  T* c = nullptr;
  Index ldc = 0;
};
/// Checks the arguments, and multiplies, for each RealOrComplex T.
template <class T>
TESSERA_API void symmetric_multiply(const SymmetricCall<T>& call, const SolveOptions& options, Shortage shortage = {});
} // namespace detail

/// Computes C := alpha·A·B + beta·C or alpha·B·A + beta·C in the caller's row-major host memory. A is symmetric;
/// leading dimensions count elements between stored rows.
template <class T>
requires detail::RealOrComplex<T>
void symm(Side side, Triangle triangle, Index m, Index n, std::type_identity_t<T> alpha, const T* a, Index lda,
          const T* b, Index ldb, std::type_identity_t<T> beta, T* c, Index ldc, const SolveOptions& options = {}) {
  detail::symmetric_multiply<T>({false, side, triangle, m, n, alpha, a, lda, b, ldb, beta, c, ldc}, options);
}

/// Does what symm() does with a Hermitian A.
template <class T>
requires detail::Complex<T>
void hemm(Side side, Triangle triangle, Index m, Index n, std::type_identity_t<T> alpha, const T* a, Index lda,
          const T* b, Index ldb, std::type_identity_t<T> beta, T* c, Index ldc, const SolveOptions& options = {}) {
  detail::symmetric_multiply<T>({true, side, triangle, m, n, alpha, a, lda, b, ldb, beta, c, ldc}, options);
}

/// Returns A·B or B·A, where A is symmetric and `triangle` names the half of `a`, as the argument is, that is read.
template <MatrixLike A, MatrixLike B>
requires detail::Solvable<typename A::value_type> && std::same_as<typename A::value_type, typename B::value_type>
    Matrix<typename A::value_type> symmetric_multiply(Triangle triangle, const A& a, const B& b, Side side = Side::Left,
                                                      const SolveOptions& options = {}) {
  using T = typename A::value_type;
  const Matrix<T> matrix(a.view()), factor(b.view());
  detail::check_system("symmetric_multiply", matrix.rows(), matrix.cols(),
                       side == Side::Left ? factor.rows() : factor.cols(), side);
  Matrix<T> c(factor.rows(), factor.cols());
  if (c.empty()) return c;
  symm(side, triangle, c.rows(), c.cols(), T(1), matrix.data(), matrix.ld(), factor.data(), factor.ld(), T(0), c.data(),
       c.ld(), options);
  return c;
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
