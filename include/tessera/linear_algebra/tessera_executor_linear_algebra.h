#ifndef TESSERA_TESSERA_EXECUTOR_LINEAR_ALGEBRA_H
#define TESSERA_TESSERA_EXECUTOR_LINEAR_ALGEBRA_H

/** @file
 * Linear systems, factorisations and level 3 of the BLAS for matrices in an executor's memory, for C (C99 and later).
 * tessera_linear_algebra.h includes this file, and says what both have in common.
 */

#include <tessera/linear_algebra/tessera_linear_algebra.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name Matrices in an executor's memory
 * These functions do what the ones without `executor_` in their names do, with matrices in the memory of an executor
 * (tessera_get_executor()), such as a GPU's: memory of tessera_allocate(), or of any other allocator if the executor's
 * device can address it. They work in the executor's queue, after what was enqueued before, and may return before the
 * results are written: tessera_synchronize() waits, and tessera_copy_out() comes after them. No matrix is copied to the
 * host; the pivots of tessera_executor_lu() are numbers in host memory. Of the options the threads count, and the
 * backend is the executor's. The bits are the ones of the functions for host memory. @{ */
/** Does what tessera_solve() does. */
TESSERA_C_API tessera_status tessera_executor_solve(tessera_executor* executor, tessera_dtype type, int64_t n,
                                                    int64_t count, const void* a, int64_t lda, const void* b,
                                                    int64_t ldb, void* x, int64_t ldx, const tessera_options* options);
/** Does what tessera_executor_solve() does with complex numbers. */
TESSERA_C_API tessera_status tessera_executor_solve_complex(tessera_executor* executor, tessera_dtype type, int64_t n,
                                                            int64_t count, const void* a, int64_t lda, const void* b,
                                                            int64_t ldb, void* x, int64_t ldx,
                                                            const tessera_options* options);
/** Does what tessera_solve_positive() does. */
TESSERA_C_API tessera_status tessera_executor_solve_positive(tessera_executor* executor, tessera_dtype type,
                                                             tessera_triangle triangle, int64_t n, int64_t count,
                                                             const void* a, int64_t lda, const void* b, int64_t ldb,
                                                             void* x, int64_t ldx, const tessera_options* options);
/** Does what tessera_executor_solve_positive() does with complex numbers. */
TESSERA_C_API tessera_status tessera_executor_solve_positive_complex(tessera_executor* executor, tessera_dtype type,
                                                                     tessera_triangle triangle, int64_t n,
                                                                     int64_t count, const void* a, int64_t lda,
                                                                     const void* b, int64_t ldb, void* x, int64_t ldx,
                                                                     const tessera_options* options);
/** Does what tessera_triangular_solve() does. */
TESSERA_C_API tessera_status tessera_executor_triangular_solve(tessera_executor* executor, tessera_dtype type,
                                                               tessera_side side, tessera_triangle triangle,
                                                               tessera_diagonal diagonal, int64_t n, int64_t count,
                                                               const void* t, int64_t ldt, const void* b, int64_t ldb,
                                                               void* x, int64_t ldx, const tessera_options* options);
/** Does what tessera_executor_triangular_solve() does with complex numbers. */
TESSERA_C_API tessera_status tessera_executor_triangular_solve_complex(tessera_executor* executor, tessera_dtype type,
                                                                       tessera_side side, tessera_triangle triangle,
                                                                       tessera_diagonal diagonal, int64_t n,
                                                                       int64_t count, const void* t, int64_t ldt,
                                                                       const void* b, int64_t ldb, void* x, int64_t ldx,
                                                                       const tessera_options* options);
/** Does what tessera_inverse() does. */
TESSERA_C_API tessera_status tessera_executor_inverse(tessera_executor* executor, tessera_dtype type, int64_t n,
                                                      const void* a, int64_t lda, void* x, int64_t ldx,
                                                      const tessera_options* options);
/** Does what tessera_executor_inverse() does with complex numbers. */
TESSERA_C_API tessera_status tessera_executor_inverse_complex(tessera_executor* executor, tessera_dtype type, int64_t n,
                                                              const void* a, int64_t lda, void* x, int64_t ldx,
                                                              const tessera_options* options);
/** Does what tessera_cholesky() does. */
TESSERA_C_API tessera_status tessera_executor_cholesky(tessera_executor* executor, tessera_dtype type,
                                                       tessera_triangle triangle, int64_t n, const void* a, int64_t lda,
                                                       void* l, int64_t ldl, const tessera_options* options);
/** Does what tessera_executor_cholesky() does with complex numbers. */
TESSERA_C_API tessera_status tessera_executor_cholesky_complex(tessera_executor* executor, tessera_dtype type,
                                                               tessera_triangle triangle, int64_t n, const void* a,
                                                               int64_t lda, void* l, int64_t ldl,
                                                               const tessera_options* options);
/** Does what tessera_lu() does. */
TESSERA_C_API tessera_status tessera_executor_lu(tessera_executor* executor, tessera_dtype type, int64_t m, int64_t n,
                                                 const void* a, int64_t lda, void* lu, int64_t ldlu, int64_t* pivots,
                                                 const tessera_options* options);
/** Does what tessera_executor_lu() does with complex numbers. */
TESSERA_C_API tessera_status tessera_executor_lu_complex(tessera_executor* executor, tessera_dtype type, int64_t m,
                                                         int64_t n, const void* a, int64_t lda, void* lu, int64_t ldlu,
                                                         int64_t* pivots, const tessera_options* options);
/** Does what tessera_qr() does. */
TESSERA_C_API tessera_status tessera_executor_qr(tessera_executor* executor, tessera_dtype type, int64_t m, int64_t n,
                                                 const void* a, int64_t lda, void* q, int64_t ldq, void* r, int64_t ldr,
                                                 const tessera_options* options);
/** Does what tessera_executor_qr() does with complex numbers. */
TESSERA_C_API tessera_status tessera_executor_qr_complex(tessera_executor* executor, tessera_dtype type, int64_t m,
                                                         int64_t n, const void* a, int64_t lda, void* q, int64_t ldq,
                                                         void* r, int64_t ldr, const tessera_options* options);
/** Does what tessera_least_squares() does. */
TESSERA_C_API tessera_status tessera_executor_least_squares(tessera_executor* executor, tessera_dtype type, int64_t m,
                                                            int64_t n, int64_t count, const void* a, int64_t lda,
                                                            const void* b, int64_t ldb, void* x, int64_t ldx,
                                                            const tessera_options* options);
/** Does what tessera_executor_least_squares() does with complex numbers. */
TESSERA_C_API tessera_status tessera_executor_least_squares_complex(tessera_executor* executor, tessera_dtype type,
                                                                    int64_t m, int64_t n, int64_t count, const void* a,
                                                                    int64_t lda, const void* b, int64_t ldb, void* x,
                                                                    int64_t ldx, const tessera_options* options);
/** Does what tessera_solve_refined() does. Columns of B and X visit the host; A does not. */
TESSERA_C_API tessera_status tessera_executor_solve_refined(tessera_executor* executor, int64_t n, int64_t count,
                                                            const double* a, int64_t lda, const double* b, int64_t ldb,
                                                            double* x, int64_t ldx, const tessera_options* options);
/** @} */

/** @name Level 3 of the BLAS in an executor's memory
 * The functions of executor_level3.hpp, for the memory and the queue that the functions above have. The result takes
 * the place of B or C, and no operand may overlap it. `type` is the type of the numbers, or of the parts of complex
 * ones; factors of complex operations are addresses of complex numbers in host memory. @{ */
/** B becomes the X of op(T)·X = alpha·B or X·op(T) = alpha·B, m×n. */
TESSERA_C_API tessera_status tessera_executor_trsm(tessera_executor* executor, tessera_dtype type, tessera_side side,
                                                   tessera_triangle triangle, tessera_op op, tessera_diagonal diagonal,
                                                   int64_t m, int64_t n, double alpha, const void* t, int64_t ldt,
                                                   void* b, int64_t ldb);
/** Does what tessera_executor_trsm() does with complex numbers. */
TESSERA_C_API tessera_status tessera_executor_trsm_complex(tessera_executor* executor, tessera_dtype type,
                                                           tessera_side side, tessera_triangle triangle, tessera_op op,
                                                           tessera_diagonal diagonal, int64_t m, int64_t n,
                                                           const void* alpha, const void* t, int64_t ldt, void* b,
                                                           int64_t ldb);
/** B becomes alpha·op(T)·B or alpha·B·op(T), m×n. */
TESSERA_C_API tessera_status tessera_executor_trmm(tessera_executor* executor, tessera_dtype type, tessera_side side,
                                                   tessera_triangle triangle, tessera_op op, tessera_diagonal diagonal,
                                                   int64_t m, int64_t n, double alpha, const void* t, int64_t ldt,
                                                   void* b, int64_t ldb);
/** Does what tessera_executor_trmm() does with complex numbers. */
TESSERA_C_API tessera_status tessera_executor_trmm_complex(tessera_executor* executor, tessera_dtype type,
                                                           tessera_side side, tessera_triangle triangle, tessera_op op,
                                                           tessera_diagonal diagonal, int64_t m, int64_t n,
                                                           const void* alpha, const void* t, int64_t ldt, void* b,
                                                           int64_t ldb);
/** C becomes alpha·A·B + beta·C or alpha·B·A + beta·C, m×n, with a symmetric A. */
TESSERA_C_API tessera_status tessera_executor_symm(tessera_executor* executor, tessera_dtype type, tessera_side side,
                                                   tessera_triangle triangle, int64_t m, int64_t n, double alpha,
                                                   const void* a, int64_t lda, const void* b, int64_t ldb, double beta,
                                                   void* c, int64_t ldc);
/** Does what tessera_executor_symm() does with complex numbers. */
TESSERA_C_API tessera_status tessera_executor_symm_complex(tessera_executor* executor, tessera_dtype type,
                                                           tessera_side side, tessera_triangle triangle, int64_t m,
                                                           int64_t n, const void* alpha, const void* a, int64_t lda,
                                                           const void* b, int64_t ldb, const void* beta, void* c,
                                                           int64_t ldc);
/** Does what tessera_executor_symm_complex() does with a Hermitian A. */
TESSERA_C_API tessera_status tessera_executor_hemm(tessera_executor* executor, tessera_dtype type, tessera_side side,
                                                   tessera_triangle triangle, int64_t m, int64_t n, const void* alpha,
                                                   const void* a, int64_t lda, const void* b, int64_t ldb,
                                                   const void* beta, void* c, int64_t ldc);
/** One triangle of C becomes alpha·op(A)·op(A)ᵀ + beta·C; op(A) is n×k. */
TESSERA_C_API tessera_status tessera_executor_syrk(tessera_executor* executor, tessera_dtype type,
                                                   tessera_triangle triangle, tessera_op op, int64_t n, int64_t k,
                                                   double alpha, const void* a, int64_t lda, double beta, void* c,
                                                   int64_t ldc);
/** Does what tessera_executor_syrk() does with complex numbers. */
TESSERA_C_API tessera_status tessera_executor_syrk_complex(tessera_executor* executor, tessera_dtype type,
                                                           tessera_triangle triangle, tessera_op op, int64_t n,
                                                           int64_t k, const void* alpha, const void* a, int64_t lda,
                                                           const void* beta, void* c, int64_t ldc);
/** One triangle of C, of complex numbers, becomes alpha·op(A)·op(A)ᴴ + beta·C, with a real diagonal. */
TESSERA_C_API tessera_status tessera_executor_herk(tessera_executor* executor, tessera_dtype type,
                                                   tessera_triangle triangle, tessera_op op, int64_t n, int64_t k,
                                                   double alpha, const void* a, int64_t lda, double beta, void* c,
                                                   int64_t ldc);
/** One triangle of C becomes alpha·op(A)·op(B)ᵀ + alpha·op(B)·op(A)ᵀ + beta·C; op(A) and op(B) are n×k. */
TESSERA_C_API tessera_status tessera_executor_syr2k(tessera_executor* executor, tessera_dtype type,
                                                    tessera_triangle triangle, tessera_op op, int64_t n, int64_t k,
                                                    double alpha, const void* a, int64_t lda, const void* b,
                                                    int64_t ldb, double beta, void* c, int64_t ldc);
/** Does what tessera_executor_syr2k() does with complex numbers. */
TESSERA_C_API tessera_status tessera_executor_syr2k_complex(tessera_executor* executor, tessera_dtype type,
                                                            tessera_triangle triangle, tessera_op op, int64_t n,
                                                            int64_t k, const void* alpha, const void* a, int64_t lda,
                                                            const void* b, int64_t ldb, const void* beta, void* c,
                                                            int64_t ldc);
/** One triangle of C, of complex numbers, becomes alpha·op(A)·op(B)ᴴ + conj(alpha)·op(B)·op(A)ᴴ + beta·C, with a real
 * diagonal. */
TESSERA_C_API tessera_status tessera_executor_her2k(tessera_executor* executor, tessera_dtype type,
                                                    tessera_triangle triangle, tessera_op op, int64_t n, int64_t k,
                                                    const void* alpha, const void* a, int64_t lda, const void* b,
                                                    int64_t ldb, double beta, void* c, int64_t ldc);
/** @} */

#ifdef __cplusplus
}
#endif

#endif
