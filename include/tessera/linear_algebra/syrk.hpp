#pragma once

/// Products of a matrix with its own transpose, which are symmetric: one half is computed.
///
///     Matrix gram = syrk(a);                    // A·Aᵀ, n×n for A n×k
///     Matrix other = syrk(a.transposed());      // Aᵀ·A
///     syrk(Triangle::Lower, Op::None, n, k, alpha, a, lda, beta, c, ldc);   // in the caller's memory
///
/// A is f32 or f64. Each element has the bits of gemm's (docs/contract.md), on every backend. n²·k operations, half of
/// gemm's. Results are in host memory.
///
/// Errors: InvalidArgument (sizes, leading dimensions, null, C overlapping A), BackendUnavailable, OutOfMemory.
///
/// Source: the level 3 BLAS's SYRK.

#include <type_traits>
#include <utility>

#include <tessera/linear_algebra/triangular.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

namespace detail {
/// C := alpha·op(A)·op(A)ᵀ + beta·C, row-major in host memory; op(A) is n×k.
struct SymmetricCall {
  DType type = DType::F32;
  Triangle triangle = Triangle::Lower; ///< of C, which alone is read and written
  Op op = Op::None;
  Index n = 0, k = 0;
  double alpha = 1;
  const void* a = nullptr;
  Index lda = 0;
  double beta = 0;
  void* c = nullptr;
  Index ldc = 0;
};
/// Checks the arguments, and computes the triangle.
TESSERA_API void symmetric_product(const SymmetricCall& call, const SolveOptions& options, Shortage shortage = {});
} // namespace detail

/// Computes one triangle of C := alpha·op(A)·op(A)ᵀ + beta·C in the caller's row-major host memory. op(A) is n×k;
/// leading dimensions count elements between stored rows. The other triangle is neither read nor written.
template <class T>
requires detail::Solvable<T>
void syrk(Triangle triangle, Op op, Index n, Index k, std::type_identity_t<T> alpha, const T* a, Index lda,
          std::type_identity_t<T> beta, T* c, Index ldc, const SolveOptions& options = {}) {
  detail::symmetric_product({.type = dtype_of<T>,
                             .triangle = triangle,
                             .op = op,
                             .n = n,
                             .k = k,
                             .alpha = static_cast<double>(alpha),
                             .a = a,
                             .lda = lda,
                             .beta = static_cast<double>(beta),
                             .c = c,
                             .ldc = ldc},
                            options);
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
