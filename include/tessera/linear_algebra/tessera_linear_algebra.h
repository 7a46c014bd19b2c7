#ifndef TESSERA_TESSERA_LINEAR_ALGEBRA_H
#define TESSERA_TESSERA_LINEAR_ALGEBRA_H

/** @file
 * Linear systems and factorisations for C (C99 and later).
 *
 *     double a[4] = {0, 2, 4, 1}, b[2] = {2, 9}, x[2];
 *     if (tessera_solve(TESSERA_F64, 2, 1, a, 2, b, 1, x, 1, NULL) != TESSERA_OK) puts(tessera_last_error());
 *
 * Matrices are row-major, TESSERA_F32 or TESSERA_F64, in host memory, or in an executor's where a name begins with
 * tessera_executor_; leading dimensions count elements between rows.
 * A function whose name ends in _complex takes complex numbers: each is a pair of that type, the real part first, like
 * `double _Complex` and `std::complex<double>`, and counts as one element.
 * Operands are never changed, and results are written when all is done: a result may lie where an operand lies. Of the
 * options, which may be NULL, the backend and the threads count; no bit depends on them (docs/contract.md, "Linear
 * algebra"). Shapes, a pivot of 0 and a matrix that is not positive definite are TESSERA_INVALID_ARGUMENT with the
 * place in the text.
 */

#include <tessera/tessera.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The triangle of a matrix that is read; the other one may hold anything. */
typedef enum tessera_triangle TESSERA_INT {
  TESSERA_LOWER = 0, /**< on and below the diagonal */
  TESSERA_UPPER = 1  /**< on and above the diagonal */
} tessera_triangle;

/** The diagonal of a triangle. */
typedef enum tessera_diagonal TESSERA_INT {
  TESSERA_STORED_DIAGONAL = 0, /**< as it is in memory */
  TESSERA_UNIT_DIAGONAL = 1    /**< all ones; the memory is not read */
} tessera_diagonal;

/** The side of X on which a triangle stands. */
typedef enum tessera_side TESSERA_INT {
  TESSERA_ON_THE_LEFT = 0, /**< T·X = B */
  TESSERA_ON_THE_RIGHT = 1 /**< X·T = B */
} tessera_side;

/** Computes X of A·X = B by LU with partial pivoting. A is n×n, B and X are n×count. */
TESSERA_C_API tessera_status tessera_solve(tessera_dtype type, int64_t n, int64_t count, const void* a, int64_t lda,
                                           const void* b, int64_t ldb, void* x, int64_t ldx,
                                           const tessera_options* options);
/** Does what tessera_solve() does with complex numbers. */
TESSERA_C_API tessera_status tessera_solve_complex(tessera_dtype type, int64_t n, int64_t count, const void* a,
                                                   int64_t lda, const void* b, int64_t ldb, void* x, int64_t ldx,
                                                   const tessera_options* options);
/** Computes X of A·X = B in f64 with factors in f32, refined and certified as solve.hpp says of refine. Where such
 * factors do not lead to a solution, TESSERA_INVALID_ARGUMENT, and X is not written. The options' math may be
 * TESSERA_EMULATED_FP16X3 or TESSERA_SCALED_FP16 here: SolveOptions::math. */
TESSERA_C_API tessera_status tessera_solve_refined(int64_t n, int64_t count, const double* a, int64_t lda,
                                                   const double* b, int64_t ldb, double* x, int64_t ldx,
                                                   const tessera_options* options);
/** Does what tessera_solve_refined() does with complex numbers, pairs of double. */
TESSERA_C_API tessera_status tessera_solve_refined_complex(int64_t n, int64_t count, const void* a, int64_t lda,
                                                           const void* b, int64_t ldb, void* x, int64_t ldx,
                                                           const tessera_options* options);
/** Computes X of A·X = B by Cholesky's factors, for a symmetric positive definite A of which one triangle is read. */
TESSERA_C_API tessera_status tessera_solve_positive(tessera_dtype type, tessera_triangle triangle, int64_t n,
                                                    int64_t count, const void* a, int64_t lda, const void* b,
                                                    int64_t ldb, void* x, int64_t ldx, const tessera_options* options);
/** Does what tessera_solve_positive() does for a Hermitian A, whose diagonal's imaginary parts are taken as 0. */
TESSERA_C_API tessera_status tessera_solve_positive_complex(tessera_dtype type, tessera_triangle triangle, int64_t n,
                                                            int64_t count, const void* a, int64_t lda, const void* b,
                                                            int64_t ldb, void* x, int64_t ldx,
                                                            const tessera_options* options);
/** Computes X of T·X = B (B and X are n×count) or X·T = B (count×n). A 0 on the diagonal gives Inf or NaN. */
TESSERA_C_API tessera_status tessera_triangular_solve(tessera_dtype type, tessera_side side, tessera_triangle triangle,
                                                      tessera_diagonal diagonal, int64_t n, int64_t count,
                                                      const void* t, int64_t ldt, const void* b, int64_t ldb, void* x,
                                                      int64_t ldx, const tessera_options* options);
/** Does what tessera_triangular_solve() does with complex numbers. */
TESSERA_C_API tessera_status tessera_triangular_solve_complex(tessera_dtype type, tessera_side side,
                                                              tessera_triangle triangle, tessera_diagonal diagonal,
                                                              int64_t n, int64_t count, const void* t, int64_t ldt,
                                                              const void* b, int64_t ldb, void* x, int64_t ldx,
                                                              const tessera_options* options);
/** Computes the inverse of A, n×n. Where a solution is enough, tessera_solve() is faster and more accurate. */
TESSERA_C_API tessera_status tessera_inverse(tessera_dtype type, int64_t n, const void* a, int64_t lda, void* x,
                                             int64_t ldx, const tessera_options* options);
/** Does what tessera_inverse() does with complex numbers. */
TESSERA_C_API tessera_status tessera_inverse_complex(tessera_dtype type, int64_t n, const void* a, int64_t lda, void* x,
                                                     int64_t ldx, const tessera_options* options);
/** Computes L of A = L·Lᵀ, n×n with zeros above the diagonal, from one triangle of A. */
TESSERA_C_API tessera_status tessera_cholesky(tessera_dtype type, tessera_triangle triangle, int64_t n, const void* a,
                                              int64_t lda, void* l, int64_t ldl, const tessera_options* options);
/** Computes L of A = L·Lᴴ for a Hermitian A, as tessera_cholesky() does. */
TESSERA_C_API tessera_status tessera_cholesky_complex(tessera_dtype type, tessera_triangle triangle, int64_t n,
                                                      const void* a, int64_t lda, void* l, int64_t ldl,
                                                      const tessera_options* options);
/** Computes L and U of P·A = L·U in one m×n matrix: L below the diagonal, whose own diagonal is ones. Row j of A
 * changed places with row pivots[j], for j = 0, 1, … min(m, n) - 1. A pivot of 0 is no error here. */
TESSERA_C_API tessera_status tessera_lu(tessera_dtype type, int64_t m, int64_t n, const void* a, int64_t lda, void* lu,
                                        int64_t ldlu, int64_t* pivots, const tessera_options* options);
/** Does what tessera_lu() does with complex numbers, whose magnitude is |re| + |im| where a pivot is chosen. */
TESSERA_C_API tessera_status tessera_lu_complex(tessera_dtype type, int64_t m, int64_t n, const void* a, int64_t lda,
                                                void* lu, int64_t ldlu, int64_t* pivots,
                                                const tessera_options* options);
/** Computes Q and R of A = Q·R, m×n: Q is m×min(m, n) with orthonormal columns, and R is min(m, n)×n with zeros below
 * its diagonal. q may be NULL: R alone. */
TESSERA_C_API tessera_status tessera_qr(tessera_dtype type, int64_t m, int64_t n, const void* a, int64_t lda, void* q,
                                        int64_t ldq, void* r, int64_t ldr, const tessera_options* options);
/** Does what tessera_qr() does with complex numbers: Q has orthonormal columns, QᴴQ = I, and R's diagonal is real. */
TESSERA_C_API tessera_status tessera_qr_complex(tessera_dtype type, int64_t m, int64_t n, const void* a, int64_t lda,
                                                void* q, int64_t ldq, void* r, int64_t ldr,
                                                const tessera_options* options);
/** Computes X, n×count, for which A·X is nearest to B, m×count; where A has fewer rows than columns, the X of smallest
 * norm. A column that depends on others is TESSERA_INVALID_ARGUMENT. */
TESSERA_C_API tessera_status tessera_least_squares(tessera_dtype type, int64_t m, int64_t n, int64_t count,
                                                   const void* a, int64_t lda, const void* b, int64_t ldb, void* x,
                                                   int64_t ldx, const tessera_options* options);
/** Does what tessera_least_squares() does with complex numbers. */
TESSERA_C_API tessera_status tessera_least_squares_complex(tessera_dtype type, int64_t m, int64_t n, int64_t count,
                                                           const void* a, int64_t lda, const void* b, int64_t ldb,
                                                           void* x, int64_t ldx, const tessera_options* options);
/** Estimates the condition number of A in the 1-norm by its LU factors; condition.hpp says how well. INFINITY where a
 * pivot is 0. */
TESSERA_C_API tessera_status tessera_condition(tessera_dtype type, int64_t n, const void* a, int64_t lda,
                                               double* condition, const tessera_options* options);
/** Does what tessera_condition() does with complex numbers. */
TESSERA_C_API tessera_status tessera_condition_complex(tessera_dtype type, int64_t n, const void* a, int64_t lda,
                                                       double* condition, const tessera_options* options);
/** Computes one triangle of C := alpha·op(A)·op(A)ᵀ + beta·C; op(A) is n×k. C may not overlap A, and its other triangle
 * is neither read nor written. */
TESSERA_C_API tessera_status tessera_syrk(tessera_dtype type, tessera_triangle triangle, tessera_op op, int64_t n,
                                          int64_t k, double alpha, const void* a, int64_t lda, double beta, void* c,
                                          int64_t ldc, const tessera_options* options);

/** Systems of one size, or matrices to factor: linear_algebra/batch.hpp explains them. They are given by all_a and
 * all_b, arrays of `count` pointers each, or, if all_b is NULL, by a, b and strides, which count elements and may be
 * negative; stride_a may be 0, then all systems share the matrix. Members that a function does not use are 0.
 *
 * info takes `count` numbers: 0, or where a factorisation met a pivot of 0 or a leading minor that is not positive,
 * counted from 1. B of such a system stays as it was; all others are computed. Where info is NULL, the call is
 * TESSERA_INVALID_ARGUMENT for the first such system, when all others are done. */
typedef struct tessera_system_batch {
  int64_t n;                /**< rows */
  int64_t columns;          /**< columns of B */
  int64_t count;            /**< number of systems */
  const void* a;            /**< the first system's A, n×n, or its factors */
  int64_t lda;              /**< elements from one row of A to the next */
  int64_t stride_a;         /**< elements from one A to the next */
  void* b;                  /**< the first system's B, or what is factored */
  int64_t ldb;              /**< elements from one row of B to the next */
  int64_t stride_b;         /**< elements from one B to the next */
  const void* const* all_a; /**< `count` pointers to A, or NULL */
  void* const* all_b;       /**< `count` pointers to B, or NULL */
  int64_t* pivots;          /**< of LU: min(n, columns) for each system, one system after another, from 0 on */
  int64_t* info;            /**< `count` numbers, or NULL */
} tessera_system_batch;

/** Solves A·X = B by LU for each n×n matrix A; X takes the place of B, which is n×columns. */
TESSERA_C_API tessera_status tessera_solve_batch(tessera_dtype type, const tessera_system_batch* batch,
                                                 const tessera_options* options);
/** Does what tessera_solve_batch() does with complex numbers. */
TESSERA_C_API tessera_status tessera_solve_batch_complex(tessera_dtype type, const tessera_system_batch* batch,
                                                         const tessera_options* options);
/** Does what tessera_solve_batch() does by Cholesky's factors, for symmetric positive definite matrices, of each of
 * which one triangle is read. */
TESSERA_C_API tessera_status tessera_solve_positive_batch(tessera_dtype type, tessera_triangle triangle,
                                                          const tessera_system_batch* batch,
                                                          const tessera_options* options);
/** Does what tessera_solve_positive_batch() does for Hermitian matrices. */
TESSERA_C_API tessera_status tessera_solve_positive_batch_complex(tessera_dtype type, tessera_triangle triangle,
                                                                  const tessera_system_batch* batch,
                                                                  const tessera_options* options);
/** Computes the inverse of each A; the inverses are written to B, n×n. */
TESSERA_C_API tessera_status tessera_inverse_batch(tessera_dtype type, const tessera_system_batch* batch,
                                                   const tessera_options* options);
/** Does what tessera_inverse_batch() does with complex numbers. */
TESSERA_C_API tessera_status tessera_inverse_batch_complex(tessera_dtype type, const tessera_system_batch* batch,
                                                           const tessera_options* options);
/** Factors P·B = L·U in the place of each B, n×columns, as tessera_lu() does. A pivot of 0 is no error here; info,
 * which may be NULL, says where it is. */
TESSERA_C_API tessera_status tessera_lu_batch(tessera_dtype type, const tessera_system_batch* batch,
                                              const tessera_options* options);
/** Does what tessera_lu_batch() does with complex numbers. */
TESSERA_C_API tessera_status tessera_lu_batch_complex(tessera_dtype type, const tessera_system_batch* batch,
                                                      const tessera_options* options);
/** Solves op(A)·X = B where A are the factors of n×n matrices that tessera_lu_batch() has written, and pivots too. */
TESSERA_C_API tessera_status tessera_lu_solve_batch(tessera_dtype type, tessera_op op,
                                                    const tessera_system_batch* batch, const tessera_options* options);
/** Does what tessera_lu_solve_batch() does with complex numbers. */
TESSERA_C_API tessera_status tessera_lu_solve_batch_complex(tessera_dtype type, tessera_op op,
                                                            const tessera_system_batch* batch,
                                                            const tessera_options* options);
/** Factors B = L·Lᵀ in the place of the lower triangle of each B, n×n, or B = Uᵀ·U in the place of the upper one. The
 * other triangle is neither read nor written. A matrix that is not positive definite stays as it was. */
TESSERA_C_API tessera_status tessera_cholesky_batch(tessera_dtype type, tessera_triangle triangle,
                                                    const tessera_system_batch* batch, const tessera_options* options);
/** Does what tessera_cholesky_batch() does for Hermitian matrices, with Lᴴ and Uᴴ. */
TESSERA_C_API tessera_status tessera_cholesky_batch_complex(tessera_dtype type, tessera_triangle triangle,
                                                            const tessera_system_batch* batch,
                                                            const tessera_options* options);
/** Solves A·X = B where A are the factors that tessera_cholesky_batch() has written. */
TESSERA_C_API tessera_status tessera_cholesky_solve_batch(tessera_dtype type, tessera_triangle triangle,
                                                          const tessera_system_batch* batch,
                                                          const tessera_options* options);
/** Does what tessera_cholesky_solve_batch() does with complex numbers. */
TESSERA_C_API tessera_status tessera_cholesky_solve_batch_complex(tessera_dtype type, tessera_triangle triangle,
                                                                  const tessera_system_batch* batch,
                                                                  const tessera_options* options);

/** In what sense a system is near another one; check_solve.hpp explains the words. */
typedef enum tessera_nearness TESSERA_INT {
  TESSERA_NEAR_BY_ELEMENTS = 0, /**< each element changes by its own share */
  TESSERA_NEAR_BY_NORM = 1      /**< the changes are small beside the largest rows */
} tessera_nearness;

/** The answer of tessera_check_solve(); check_solve.hpp explains the numbers. */
typedef struct tessera_solve_certificate {
  size_t size;              /**< sizeof(tessera_solve_certificate) when the program was compiled; set it before */
  tessera_verdict verdict;  /**< what the certificate says */
  double limit;             /**< as it was chosen, or by default */
  double by_elements_least; /**< the least change of elements under which X is exact is no less */
  double by_elements_most;  /**< and no more */
  double by_norm_least;     /**< the same in the maximum norm */
  double by_norm_most;      /**< and no more */
  int64_t row;              /**< of the element of the residual that decides; -1: all are 0 */
  int64_t col;              /**< of that element */
  double residual;          /**< b - A·x there; of complex systems its modulus */
  double scale;             /**< |A||x| + |b| there */
  int64_t unjudged;         /**< elements of the residual that cannot be judged */
  char text[512];           /**< the answer in words, cut to this length */
} tessera_solve_certificate;

/** Says whether X, n×count, is the solution of a system near A·X = B, whatever computed it. Each matrix has a type of
 * its own. limit = 0 stands for 3·(n + 10)·u with the unit roundoff of X's type; threads = 0 for the default.
 * TESSERA_OK means that `certificate` was filled; its verdict may be any. */
TESSERA_C_API tessera_status tessera_check_solve(tessera_checked_type type_a, tessera_checked_type type_x,
                                                 tessera_checked_type type_b, int64_t n, int64_t count, const void* a,
                                                 int64_t lda, const void* x, int64_t ldx, const void* b, int64_t ldb,
                                                 tessera_nearness nearness, double limit, int threads,
                                                 tessera_solve_certificate* certificate);
/** Does what tessera_check_solve() does with complex numbers, whose parts are of the types, TESSERA_CHECKED_F32 or
 * TESSERA_CHECKED_F64. The default limit is 2·√2 times as large. */
TESSERA_C_API tessera_status tessera_check_solve_complex(tessera_checked_type type_a, tessera_checked_type type_x,
                                                         tessera_checked_type type_b, int64_t n, int64_t count,
                                                         const void* a, int64_t lda, const void* x, int64_t ldx,
                                                         const void* b, int64_t ldb, tessera_nearness nearness,
                                                         double limit, int threads,
                                                         tessera_solve_certificate* certificate);

#ifdef __cplusplus
}
#endif

#include <tessera/linear_algebra/tessera_executor_linear_algebra.h>

#endif
