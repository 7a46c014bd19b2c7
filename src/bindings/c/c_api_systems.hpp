#pragma once

/// Linear systems of matrices in the host's memory or an executor's, for the C interface. Each function does what the
/// one of its name in tessera_linear_algebra.h does.

#include "c_api_linear_algebra.hpp"

namespace tessera::c_api {

/// The memory that all matrices of a call are in.
struct MatrixMemory {
  Executor* executor = nullptr; ///< null: the host's memory
};

tessera_status solve_of(const MatrixMemory& memory, NumberWord type, int64_t n, int64_t count, const void* a,
                        int64_t lda, const void* b, int64_t ldb, void* x, int64_t ldx, const tessera_options* options,
                        bool refine = false);
tessera_status solve_positive_of(const MatrixMemory& memory, NumberWord type, tessera_triangle triangle, int64_t n,
                                 int64_t count, const void* a, int64_t lda, const void* b, int64_t ldb, void* x,
                                 int64_t ldx, const tessera_options* options);
tessera_status triangular_solve_of(const MatrixMemory& memory, NumberWord type, tessera_side side,
                                   tessera_triangle triangle, tessera_diagonal diagonal, int64_t n, int64_t count,
                                   const void* t, int64_t ldt, const void* b, int64_t ldb, void* x, int64_t ldx,
                                   const tessera_options* options);
tessera_status inverse_of(const MatrixMemory& memory, NumberWord type, int64_t n, const void* a, int64_t lda, void* x,
                          int64_t ldx, const tessera_options* options);
tessera_status cholesky_of(const MatrixMemory& memory, NumberWord type, tessera_triangle triangle, int64_t n,
                           const void* a, int64_t lda, void* l, int64_t ldl, const tessera_options* options);
tessera_status lu_of(const MatrixMemory& memory, NumberWord type, int64_t m, int64_t n, const void* a, int64_t lda,
                     void* lu, int64_t ldlu, int64_t* pivots, const tessera_options* options);
tessera_status condition_of(const MatrixMemory& memory, NumberWord type, int64_t n, const void* a, int64_t lda,
                            double* condition, const tessera_options* options);
tessera_status qr_of(const MatrixMemory& memory, NumberWord type, int64_t m, int64_t n, const void* a, int64_t lda,
                     void* q, int64_t ldq, void* r, int64_t ldr, const tessera_options* options);
tessera_status least_squares_of(const MatrixMemory& memory, NumberWord type, int64_t m, int64_t n, int64_t count,
                                const void* a, int64_t lda, const void* b, int64_t ldb, void* x, int64_t ldx,
                                const tessera_options* options);

} // namespace tessera::c_api
