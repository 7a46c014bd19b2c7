/// Linear algebra in the C interface.

#include <tessera/linear_algebra/tessera_linear_algebra.h>

#include <tessera/linear_algebra/syrk.hpp>

#include "c_api_systems.hpp"

using namespace tessera;
using namespace tessera::c_api;

SolveOptions tessera::c_api::solve_options_of(const tessera_options* words, DType type, bool refine) {
  expect_plain(words, type, "linear algebra has results of the operands' type");
  const GemmOptions options = options_of(words);
  if (options.math != Math::Strict && !refine)
    throw InvalidArgument("options.math = " + std::string(to_string(options.math)) +
                          ", but linear algebra is computed with strict products alone, unless it is refined");
  if (!options.kernel.empty())
    throw InvalidArgument("options.kernel is '" + std::string(options.kernel) +
                          "', but linear algebra chooses the kernels of its products itself");
  return {.backend = options.backend, .threads = options.threads, .refine = refine, .math = options.math};
}

DType tessera::c_api::linear_algebra_type(tessera_dtype part) {
  const DType type = checked_type(part, "type");
  if (type != DType::F32 && type != DType::F64)
    throw InvalidArgument("type = " + std::string(to_string(type)) + ", but linear algebra is computed in f32 and f64");
  return type;
}

tessera_status tessera_solve(tessera_dtype type, int64_t n, int64_t count, const void* a, int64_t lda, const void* b,
                             int64_t ldb, void* x, int64_t ldx, const tessera_options* options) {
  return solve_of({}, {type}, n, count, a, lda, b, ldb, x, ldx, options);
}
tessera_status tessera_solve_complex(tessera_dtype type, int64_t n, int64_t count, const void* a, int64_t lda,
                                     const void* b, int64_t ldb, void* x, int64_t ldx, const tessera_options* options) {
  return solve_of({}, {type, true}, n, count, a, lda, b, ldb, x, ldx, options);
}

tessera_status tessera_solve_positive(tessera_dtype type, tessera_triangle triangle, int64_t n, int64_t count,
                                      const void* a, int64_t lda, const void* b, int64_t ldb, void* x, int64_t ldx,
                                      const tessera_options* options) {
  return solve_positive_of({}, {type}, triangle, n, count, a, lda, b, ldb, x, ldx, options);
}
tessera_status tessera_solve_positive_complex(tessera_dtype type, tessera_triangle triangle, int64_t n, int64_t count,
                                              const void* a, int64_t lda, const void* b, int64_t ldb, void* x,
                                              int64_t ldx, const tessera_options* options) {
  return solve_positive_of({}, {type, true}, triangle, n, count, a, lda, b, ldb, x, ldx, options);
}

tessera_status tessera_triangular_solve(tessera_dtype type, tessera_side side, tessera_triangle triangle,
                                        tessera_diagonal diagonal, int64_t n, int64_t count, const void* t, int64_t ldt,
                                        const void* b, int64_t ldb, void* x, int64_t ldx,
                                        const tessera_options* options) {
  return triangular_solve_of({}, {type}, side, triangle, diagonal, n, count, t, ldt, b, ldb, x, ldx, options);
}
tessera_status tessera_triangular_solve_complex(tessera_dtype type, tessera_side side, tessera_triangle triangle,
                                                tessera_diagonal diagonal, int64_t n, int64_t count, const void* t,
                                                int64_t ldt, const void* b, int64_t ldb, void* x, int64_t ldx,
                                                const tessera_options* options) {
  return triangular_solve_of({}, {type, true}, side, triangle, diagonal, n, count, t, ldt, b, ldb, x, ldx, options);
}

tessera_status tessera_inverse(tessera_dtype type, int64_t n, const void* a, int64_t lda, void* x, int64_t ldx,
                               const tessera_options* options) {
  return inverse_of({}, {type}, n, a, lda, x, ldx, options);
}
tessera_status tessera_inverse_complex(tessera_dtype type, int64_t n, const void* a, int64_t lda, void* x, int64_t ldx,
                                       const tessera_options* options) {
  return inverse_of({}, {type, true}, n, a, lda, x, ldx, options);
}

tessera_status tessera_cholesky(tessera_dtype type, tessera_triangle triangle, int64_t n, const void* a, int64_t lda,
                                void* l, int64_t ldl, const tessera_options* options) {
  return cholesky_of({}, {type}, triangle, n, a, lda, l, ldl, options);
}
tessera_status tessera_cholesky_complex(tessera_dtype type, tessera_triangle triangle, int64_t n, const void* a,
                                        int64_t lda, void* l, int64_t ldl, const tessera_options* options) {
  return cholesky_of({}, {type, true}, triangle, n, a, lda, l, ldl, options);
}

tessera_status tessera_lu(tessera_dtype type, int64_t m, int64_t n, const void* a, int64_t lda, void* lu, int64_t ldlu,
                          int64_t* pivots, const tessera_options* options) {
  return lu_of({}, {type}, m, n, a, lda, lu, ldlu, pivots, options);
}
tessera_status tessera_lu_complex(tessera_dtype type, int64_t m, int64_t n, const void* a, int64_t lda, void* lu,
                                  int64_t ldlu, int64_t* pivots, const tessera_options* options) {
  return lu_of({}, {type, true}, m, n, a, lda, lu, ldlu, pivots, options);
}

tessera_status tessera_qr(tessera_dtype type, int64_t m, int64_t n, const void* a, int64_t lda, void* q, int64_t ldq,
                          void* r, int64_t ldr, const tessera_options* options) {
  return qr_of({}, {type}, m, n, a, lda, q, ldq, r, ldr, options);
}
tessera_status tessera_qr_complex(tessera_dtype type, int64_t m, int64_t n, const void* a, int64_t lda, void* q,
                                  int64_t ldq, void* r, int64_t ldr, const tessera_options* options) {
  return qr_of({}, {type, true}, m, n, a, lda, q, ldq, r, ldr, options);
}

tessera_status tessera_least_squares(tessera_dtype type, int64_t m, int64_t n, int64_t count, const void* a,
                                     int64_t lda, const void* b, int64_t ldb, void* x, int64_t ldx,
                                     const tessera_options* options) {
  return least_squares_of({}, {type}, m, n, count, a, lda, b, ldb, x, ldx, options);
}
tessera_status tessera_least_squares_complex(tessera_dtype type, int64_t m, int64_t n, int64_t count, const void* a,
                                             int64_t lda, const void* b, int64_t ldb, void* x, int64_t ldx,
                                             const tessera_options* options) {
  return least_squares_of({}, {type, true}, m, n, count, a, lda, b, ldb, x, ldx, options);
}

tessera_status tessera_condition(tessera_dtype type, int64_t n, const void* a, int64_t lda, double* condition,
                                 const tessera_options* options) {
  return condition_of({}, {type}, n, a, lda, condition, options);
}
tessera_status tessera_condition_complex(tessera_dtype type, int64_t n, const void* a, int64_t lda, double* condition,
                                         const tessera_options* options) {
  return condition_of({}, {type, true}, n, a, lda, condition, options);
}

tessera_status tessera_solve_refined(int64_t n, int64_t count, const double* a, int64_t lda, const double* b,
                                     int64_t ldb, double* x, int64_t ldx, const tessera_options* options) {
  return solve_of({}, {TESSERA_F64}, n, count, a, lda, b, ldb, x, ldx, options, true);
}
tessera_status tessera_solve_refined_complex(int64_t n, int64_t count, const void* a, int64_t lda, const void* b,
                                             int64_t ldb, void* x, int64_t ldx, const tessera_options* options) {
  return solve_of({}, {TESSERA_F64, true}, n, count, a, lda, b, ldb, x, ldx, options, true);
}

tessera_status tessera_syrk(tessera_dtype type, tessera_triangle triangle, tessera_op op, int64_t n, int64_t k,
                            double alpha, const void* a, int64_t lda, double beta, void* c, int64_t ldc,
                            const tessera_options* options) {
  return guarded([&] {
    const DType element = linear_algebra_type(type);
    const SolveOptions choices = solve_options_of(options, element);
    const auto update = [&]<class T>(T) {
      syrk(triangle_of(triangle), c_api::checked(op, "op"), n, k, static_cast<T>(as_scalar(alpha, element)),
           static_cast<const T*>(a), lda, static_cast<T>(as_scalar(beta, element)), static_cast<T*>(c), ldc, choices);
    };
    element == DType::F32 ? update(float()) : update(double());
  });
}
