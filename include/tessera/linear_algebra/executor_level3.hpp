#pragma once

/// Operations of the BLAS's level 3 on matrices in an executor's memory; its products are the executor's gemm().
///
///     Executor& gpu = executor(Backend::Cuda);
///     syrk(gpu, Triangle::Lower, Op::None, n, k, 1.0, a, lda, 0.0, c, ldc);                                // C = A·Aᵀ
///     trsm(gpu, Side::Left, Triangle::Lower, Op::None, Diagonal::Stored, n, count, 1.0, t, ldt, b, ldb); // X over B
///     trmm(gpu, Side::Right, Triangle::Upper, Op::Transpose, Diagonal::Unit, m, n, 1.0, t, ldt, b, ldb); // B·Tᵀ there
///
/// Row-major matrices of f32, f64 or complex numbers of either in the executor's memory, of any allocator whose memory
/// the device reads. The arguments and the bits are the ones of the functions for host memory (triangular.hpp,
/// syrk.hpp, symm.hpp). The work is enqueued in the default queue, after what was enqueued before; in host memory it is
/// done on return. A triangle that is not named is not written. Room on the device: a matrix of C's size for updates,
/// two of A's size for symm and hemm, up to three of T's size and one of B's for trsm, one of B's for trmm; complex
/// products take up to 256 MiB more.
///
/// Errors: InvalidArgument (sizes, leading dimensions, null addresses, C overlapping A or B), OutOfMemory, and of trsm
/// and trmm KernelRejected on a device without the steps of factorisations (Capabilities::has_panels).

#include <tessera/executor.hpp>
#include <tessera/linear_algebra/symm.hpp>
#include <tessera/linear_algebra/syrk.hpp>
#include <tessera/linear_algebra/triangular.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {
namespace detail {
/// Enqueues a call whose arguments were checked.
template <class T>
TESSERA_API void triangular_solve_on(Executor& executor, const TriangularCall<T>& call);
template <class T>
TESSERA_API void triangular_multiply_on(Executor& executor, const TriangularCall<T>& call);
/// Check the arguments, and enqueue a call.
template <class T>
TESSERA_API void rank_update_on(Executor& executor, const RankUpdateCall<T>& call);
template <class T>
TESSERA_API void symmetric_multiply_on(Executor& executor, const SymmetricCall<T>& call);
} // namespace detail

/// X takes the place of B, m×n, in op(T)·X = alpha·B, or in X·op(T) = alpha·B.
template <class T>
requires detail::RealOrComplex<T>
void trsm(Executor& executor, Side side, Triangle triangle, Op op, Diagonal diagonal, Index m, Index n,
          std::type_identity_t<T> alpha, const T* t, Index ldt, T* b, Index ldb) {
  detail::triangular_solve_on(
      executor, detail::checked_triangular("trsm", side, triangle, op, diagonal, m, n, alpha, t, ldt, b, ldb));
}

/// B := alpha·op(T)·B or alpha·B·op(T); B is m×n.
template <class T>
requires detail::RealOrComplex<T>
void trmm(Executor& executor, Side side, Triangle triangle, Op op, Diagonal diagonal, Index m, Index n,
          std::type_identity_t<T> alpha, const T* t, Index ldt, T* b, Index ldb) {
  detail::triangular_multiply_on(
      executor, detail::checked_triangular("trmm", side, triangle, op, diagonal, m, n, alpha, t, ldt, b, ldb));
}

/// Computes one triangle of C := alpha·op(A)·op(A)ᵀ + beta·C; op(A) is n×k.
template <class T>
requires detail::RealOrComplex<T>
void syrk(Executor& executor, Triangle triangle, Op op, Index n, Index k, std::type_identity_t<T> alpha, const T* a,
          Index lda, std::type_identity_t<T> beta, T* c, Index ldc) {
  detail::rank_update_on<T>(executor, {false, false, triangle, op, n, k, alpha, a, lda, nullptr, 1, beta, c, ldc});
}

/// Computes one triangle of C := alpha·op(A)·op(A)ᴴ + beta·C, whose diagonal becomes real.
template <class T>
requires detail::Complex<T>
void herk(Executor& executor, Triangle triangle, Op op, Index n, Index k, typename T::value_type alpha, const T* a,
          Index lda, typename T::value_type beta, T* c, Index ldc) {
  detail::rank_update_on<T>(executor, {true, false, triangle, op, n, k, alpha, a, lda, nullptr, 1, beta, c, ldc});
}

/// Computes one triangle of C := alpha·op(A)·op(B)ᵀ + alpha·op(B)·op(A)ᵀ + beta·C.
template <class T>
requires detail::RealOrComplex<T>
void syr2k(Executor& executor, Triangle triangle, Op op, Index n, Index k, std::type_identity_t<T> alpha, const T* a,
           Index lda, const T* b, Index ldb, std::type_identity_t<T> beta, T* c, Index ldc) {
  detail::rank_update_on<T>(executor, {false, true, triangle, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc});
}

/// Computes one triangle of C := alpha·op(A)·op(B)ᴴ + conj(alpha)·op(B)·op(A)ᴴ + beta·C, whose diagonal becomes real.
template <class T>
requires detail::Complex<T>
void her2k(Executor& executor, Triangle triangle, Op op, Index n, Index k, std::type_identity_t<T> alpha, const T* a,
           Index lda, const T* b, Index ldb, typename T::value_type beta, T* c, Index ldc) {
  detail::rank_update_on<T>(executor, {true, true, triangle, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc});
}

/// Computes C := alpha·A·B + beta·C or alpha·B·A + beta·C, m×n. A is symmetric, and one triangle of it counts.
template <class T>
requires detail::RealOrComplex<T>
void symm(Executor& executor, Side side, Triangle triangle, Index m, Index n, std::type_identity_t<T> alpha, const T* a,
          Index lda, const T* b, Index ldb, std::type_identity_t<T> beta, T* c, Index ldc) {
  detail::symmetric_multiply_on<T>(executor, {false, side, triangle, m, n, alpha, a, lda, b, ldb, beta, c, ldc});
}

/// Does what symm() does with a Hermitian A.
template <class T>
requires detail::Complex<T>
void hemm(Executor& executor, Side side, Triangle triangle, Index m, Index n, std::type_identity_t<T> alpha, const T* a,
          Index lda, const T* b, Index ldb, std::type_identity_t<T> beta, T* c, Index ldc) {
  detail::symmetric_multiply_on<T>(executor, {true, side, triangle, m, n, alpha, a, lda, b, ldb, beta, c, ldc});
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
