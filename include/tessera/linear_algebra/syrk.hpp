#pragma once

/// Products with the transpose of one operand or of the other, which are symmetric or Hermitian: one half is computed.
///
///     Matrix gram = syrk(a);                    // A·Aᵀ, n×n for A n×k
///     Matrix other = syrk(a.transposed());      // Aᵀ·A
///     syrk(Triangle::Lower, Op::None, n, k, alpha, a, lda, beta, c, ldc);   // in the caller's memory
///     her2k(Triangle::Lower, Op::None, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
///
/// Numbers are f32, f64 or complex of these. Each element has the bits of gemm's (docs/contract.md, "Linear algebra"),
/// on every backend. n²·k operations, half of gemm's; twice as many for syr2k and her2k. Results are in host memory.
///
/// Errors: InvalidArgument (sizes, leading dimensions, op, null, C overlapping A or B), BackendUnavailable,
/// OutOfMemory, which leaves C as it was, as triangular.hpp says of B.
///
/// Source: the level 3 BLAS's SYRK, HERK, SYR2K and HER2K.

#include <type_traits>
#include <utility>

#include <tessera/linear_algebra/triangular.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

namespace detail {
/// C := alpha·op(A)·op(A)ᵀ + beta·C, row-major in host memory; op(A) is n×k. With B of A's shape:
/// C := alpha·op(A)·op(B)ᵀ + alpha·op(B)·op(A)ᵀ + beta·C. Of Hermitian updates the transposes are conjugated, the
/// second alpha is conjugated, and beta is real, as is alpha without B.
template <class T>
struct RankUpdateCall {
  bool is_hermitian = false;
  bool has_b = false;
  Triangle triangle = Triangle::Lower; ///< of C, which alone is read and written
  Op op = Op::None;                    ///< None, or the transpose of the update's kind
  Index n = 0, k = 0;
  T alpha = 1;
  const T* a = nullptr;
  Index lda = 0;
  const T* b = nullptr;
  Index ldb = 0;
  T beta = 0;
  T* c = nullptr;
  Index ldc = 0;
};
/// Checks the arguments, and computes the triangle, for each RealOrComplex T.
template <class T>
TESSERA_API void rank_update(const RankUpdateCall<T>& call, const SolveOptions& options, Shortage shortage = {});
} // namespace detail

/// Computes one triangle of C := alpha·op(A)·op(A)ᵀ + beta·C in the caller's row-major host memory. op(A) is n×k;
/// leading dimensions count elements between stored rows. The other triangle is neither read nor written.
template <class T>
requires detail::RealOrComplex<T>
void syrk(Triangle triangle, Op op, Index n, Index k, std::type_identity_t<T> alpha, const T* a, Index lda,
          std::type_identity_t<T> beta, T* c, Index ldc, const SolveOptions& options = {}) {
  detail::rank_update<T>({false, false, triangle, op, n, k, alpha, a, lda, nullptr, 1, beta, c, ldc}, options);
}

/// Computes one triangle of C := alpha·op(A)·op(A)ᴴ + beta·C, whose diagonal becomes real.
template <class T>
requires detail::Complex<T>
void herk(Triangle triangle, Op op, Index n, Index k, typename T::value_type alpha, const T* a, Index lda,
          typename T::value_type beta, T* c, Index ldc, const SolveOptions& options = {}) {
  detail::rank_update<T>({true, false, triangle, op, n, k, alpha, a, lda, nullptr, 1, beta, c, ldc}, options);
}

/// Computes one triangle of C := alpha·op(A)·op(B)ᵀ + alpha·op(B)·op(A)ᵀ + beta·C.
template <class T>
requires detail::RealOrComplex<T>
void syr2k(Triangle triangle, Op op, Index n, Index k, std::type_identity_t<T> alpha, const T* a, Index lda, const T* b,
           Index ldb, std::type_identity_t<T> beta, T* c, Index ldc, const SolveOptions& options = {}) {
  detail::rank_update<T>({false, true, triangle, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, options);
}

/// Computes one triangle of C := alpha·op(A)·op(B)ᴴ + conj(alpha)·op(B)·op(A)ᴴ + beta·C, whose diagonal becomes real.
template <class T>
requires detail::Complex<T>
void her2k(Triangle triangle, Op op, Index n, Index k, std::type_identity_t<T> alpha, const T* a, Index lda, const T* b,
           Index ldb, typename T::value_type beta, T* c, Index ldc, const SolveOptions& options = {}) {
  detail::rank_update<T>({true, true, triangle, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, options);
}

/// Returns A·Aᵀ, both triangles.
template <MatrixLike A>
requires detail::Solvable<typename A::value_type> Matrix<typename A::value_type> syrk(
    const A& a, const SolveOptions& options = {}) {
  using T = typename A::value_type;
  const Matrix<T> matrix(a.view());
  const Index n = matrix.rows();
  Matrix<T> c(n, n);
  if (n == 0) return c;
  syrk(Triangle::Lower, Op::None, n, matrix.cols(), T(1), matrix.data(), matrix.ld(), T(0), c.data(), c.ld(), options);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < i; ++j) c(j, i) = std::as_const(c)(i, j);
  return c;
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
