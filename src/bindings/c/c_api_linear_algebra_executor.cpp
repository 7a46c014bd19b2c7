/// Linear systems of matrices in an executor's memory, for the C interface.

#include "c_api_systems.hpp"

using namespace tessera;
using namespace tessera::c_api;

namespace {

/// Calls work(memory) with the executor's memory.
template <class Work>
tessera_status run_in(tessera_executor* executor, const Work& work) {
  MatrixMemory memory;
  const tessera_status found = guarded([&] { memory.executor = &executor_of(executor); });
  return found == TESSERA_OK ? work(memory) : found;
}

} // namespace

tessera_status tessera_executor_solve(tessera_executor* executor, tessera_dtype type, int64_t n, int64_t count,
                                      const void* a, int64_t lda, const void* b, int64_t ldb, void* x, int64_t ldx,
                                      const tessera_options* options) {
  return run_in(executor, [&](const MatrixMemory& memory) {
    return solve_of(memory, {type}, n, count, a, lda, b, ldb, x, ldx, options);
  });
}
tessera_status tessera_executor_solve_complex(tessera_executor* executor, tessera_dtype type, int64_t n, int64_t count,
                                              const void* a, int64_t lda, const void* b, int64_t ldb, void* x,
                                              int64_t ldx, const tessera_options* options) {
  return run_in(executor, [&](const MatrixMemory& memory) {
    return solve_of(memory, {type, true}, n, count, a, lda, b, ldb, x, ldx, options);
  });
}

tessera_status tessera_executor_solve_positive(tessera_executor* executor, tessera_dtype type,
                                               tessera_triangle triangle, int64_t n, int64_t count, const void* a,
                                               int64_t lda, const void* b, int64_t ldb, void* x, int64_t ldx,
                                               const tessera_options* options) {
  return run_in(executor, [&](const MatrixMemory& memory) {
    return solve_positive_of(memory, {type}, triangle, n, count, a, lda, b, ldb, x, ldx, options);
  });
}
tessera_status tessera_executor_solve_positive_complex(tessera_executor* executor, tessera_dtype type,
                                                       tessera_triangle triangle, int64_t n, int64_t count,
                                                       const void* a, int64_t lda, const void* b, int64_t ldb, void* x,
                                                       int64_t ldx, const tessera_options* options) {
  return run_in(executor, [&](const MatrixMemory& memory) {
    return solve_positive_of(memory, {type, true}, triangle, n, count, a, lda, b, ldb, x, ldx, options);
  });
}

tessera_status tessera_executor_triangular_solve(tessera_executor* executor, tessera_dtype type, tessera_side side,
                                                 tessera_triangle triangle, tessera_diagonal diagonal, int64_t n,
                                                 int64_t count, const void* t, int64_t ldt, const void* b, int64_t ldb,
                                                 void* x, int64_t ldx, const tessera_options* options) {
  return run_in(executor, [&](const MatrixMemory& memory) {
    return triangular_solve_of(memory, {type}, side, triangle, diagonal, n, count, t, ldt, b, ldb, x, ldx, options);
  });
}
tessera_status tessera_executor_triangular_solve_complex(tessera_executor* executor, tessera_dtype type,
                                                         tessera_side side, tessera_triangle triangle,
                                                         tessera_diagonal diagonal, int64_t n, int64_t count,
                                                         const void* t, int64_t ldt, const void* b, int64_t ldb,
                                                         void* x, int64_t ldx, const tessera_options* options) {
  return run_in(executor, [&](const MatrixMemory& memory) {
    return triangular_solve_of(memory, {type, true}, side, triangle, diagonal, n, count, t, ldt, b, ldb, x, ldx,
                               options);
  });
}

tessera_status tessera_executor_inverse(tessera_executor* executor, tessera_dtype type, int64_t n, const void* a,
                                        int64_t lda, void* x, int64_t ldx, const tessera_options* options) {
  return run_in(executor,
                [&](const MatrixMemory& memory) { return inverse_of(memory, {type}, n, a, lda, x, ldx, options); });
}
tessera_status tessera_executor_inverse_complex(tessera_executor* executor, tessera_dtype type, int64_t n,
                                                const void* a, int64_t lda, void* x, int64_t ldx,
                                                const tessera_options* options) {
  return run_in(executor, [&](const MatrixMemory& memory) {
    return inverse_of(memory, {type, true}, n, a, lda, x, ldx, options);
  });
}

tessera_status tessera_executor_cholesky(tessera_executor* executor, tessera_dtype type, tessera_triangle triangle,
                                         int64_t n, const void* a, int64_t lda, void* l, int64_t ldl,
                                         const tessera_options* options) {
  return run_in(executor, [&](const MatrixMemory& memory) {
    return cholesky_of(memory, {type}, triangle, n, a, lda, l, ldl, options);
  });
}
tessera_status tessera_executor_cholesky_complex(tessera_executor* executor, tessera_dtype type,
                                                 tessera_triangle triangle, int64_t n, const void* a, int64_t lda,
                                                 void* l, int64_t ldl, const tessera_options* options) {
  return run_in(executor, [&](const MatrixMemory& memory) {
    return cholesky_of(memory, {type, true}, triangle, n, a, lda, l, ldl, options);
  });
}

tessera_status tessera_executor_lu(tessera_executor* executor, tessera_dtype type, int64_t m, int64_t n, const void* a,
                                   int64_t lda, void* lu, int64_t ldlu, int64_t* pivots,
                                   const tessera_options* options) {
  return run_in(executor, [&](const MatrixMemory& memory) {
    return lu_of(memory, {type}, m, n, a, lda, lu, ldlu, pivots, options);
  });
}
tessera_status tessera_executor_lu_complex(tessera_executor* executor, tessera_dtype type, int64_t m, int64_t n,
                                           const void* a, int64_t lda, void* lu, int64_t ldlu, int64_t* pivots,
                                           const tessera_options* options) {
  return run_in(executor, [&](const MatrixMemory& memory) {
    return lu_of(memory, {type, true}, m, n, a, lda, lu, ldlu, pivots, options);
  });
}

tessera_status tessera_executor_qr(tessera_executor* executor, tessera_dtype type, int64_t m, int64_t n, const void* a,
                                   int64_t lda, void* q, int64_t ldq, void* r, int64_t ldr,
                                   const tessera_options* options) {
  return run_in(executor, [&](const MatrixMemory& memory) {
    return qr_of(memory, {type}, m, n, a, lda, q, ldq, r, ldr, options);
  });
}
tessera_status tessera_executor_qr_complex(tessera_executor* executor, tessera_dtype type, int64_t m, int64_t n,
                                           const void* a, int64_t lda, void* q, int64_t ldq, void* r, int64_t ldr,
                                           const tessera_options* options) {
  return run_in(executor, [&](const MatrixMemory& memory) {
    return qr_of(memory, {type, true}, m, n, a, lda, q, ldq, r, ldr, options);
  });
}

tessera_status tessera_executor_least_squares(tessera_executor* executor, tessera_dtype type, int64_t m, int64_t n,
                                              int64_t count, const void* a, int64_t lda, const void* b, int64_t ldb,
                                              void* x, int64_t ldx, const tessera_options* options) {
  return run_in(executor, [&](const MatrixMemory& memory) {
    return least_squares_of(memory, {type}, m, n, count, a, lda, b, ldb, x, ldx, options);
  });
}
tessera_status tessera_executor_least_squares_complex(tessera_executor* executor, tessera_dtype type, int64_t m,
                                                      int64_t n, int64_t count, const void* a, int64_t lda,
                                                      const void* b, int64_t ldb, void* x, int64_t ldx,
                                                      const tessera_options* options) {
  return run_in(executor, [&](const MatrixMemory& memory) {
    return least_squares_of(memory, {type, true}, m, n, count, a, lda, b, ldb, x, ldx, options);
  });
}

tessera_status tessera_executor_solve_refined(tessera_executor* executor, int64_t n, int64_t count, const double* a,
                                              int64_t lda, const double* b, int64_t ldb, double* x, int64_t ldx,
                                              const tessera_options* options) {
  return run_in(executor, [&](const MatrixMemory& memory) {
    return solve_of(memory, {TESSERA_F64}, n, count, a, lda, b, ldb, x, ldx, options, true);
  });
}
