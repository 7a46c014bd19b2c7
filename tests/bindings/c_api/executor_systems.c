/* Linear systems in an executor's memory, by the C interface. The exit status says whether a check failed. */
#include "executor_checks.h"

static const double general[N * N] = {0, 2, 1, 4, 1, 0, 1, 0, 3};
static const double positive[N * N] = {4, 2, 0, 2, 5, 2, 0, 2, 5}; /* L = 2; 1 2; 0 1 2 */

static void* put(const double* rows, int64_t count, int64_t cols) { return put_parts(1, rows, count, cols); }
static int equal_there(const void* memory, const double* rows, int64_t count, int64_t cols) {
  return equal_parts(1, memory, rows, count, cols);
}

static void executor_memory(tessera_backend backend) {
  const double b[N * 2] = {7, 1, 6, 4, 10, 4}, tall[N * 2] = {3, 1, 4, 1, 0, 2};
  double x[N * 2], square[N * N], q[N * 2], r[4];
  int64_t pivots[N], expected[N];
  require("get_executor", tessera_get_executor(backend, &where) == TESSERA_OK);
  void *a = put(general, N, N), *p = put(positive, N, N), *right = put(b, N, 2), *t = put(tall, N, 2);
  void *result = put(NULL, 0, 0), *second = put(NULL, 0, 0);

  tessera_solve(TESSERA_F64, N, 2, general, N, b, 2, x, 2, NULL);
  require("executor_solve",
          tessera_executor_solve(where, TESSERA_F64, N, 2, a, LD, right, LD, result, LD, NULL) == TESSERA_OK);
  require("its solution", equal_there(result, x, N, 2));
  tessera_solve_positive(TESSERA_F64, TESSERA_UPPER, N, 2, positive, N, b, 2, x, 2, NULL);
  require("executor_solve_positive", tessera_executor_solve_positive(where, TESSERA_F64, TESSERA_UPPER, N, 2, p, LD,
                                                                     right, LD, result, LD, NULL) == TESSERA_OK);
  require("its solution", equal_there(result, x, N, 2));
  tessera_triangular_solve(TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER, TESSERA_STORED_DIAGONAL, N, 2, positive, N,
                           b, 2, x, 2, NULL);
  require(
      "executor_triangular_solve",
      tessera_executor_triangular_solve(where, TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER, TESSERA_STORED_DIAGONAL,
                                        N, 2, p, LD, right, LD, result, LD, NULL) == TESSERA_OK);
  require("its solution", equal_there(result, x, N, 2));
  tessera_least_squares(TESSERA_F64, N, 2, 2, tall, 2, b, 2, x, 2, NULL);
  require("executor_least_squares", tessera_executor_least_squares(where, TESSERA_F64, N, 2, 2, t, LD, right, LD,
                                                                   result, LD, NULL) == TESSERA_OK);
  require("its solution", equal_there(result, x, 2, 2));

  tessera_free(where, result);
  result = put(NULL, 0, 0);
  tessera_inverse(TESSERA_F64, N, general, N, square, N, NULL);
  require("executor_inverse", tessera_executor_inverse(where, TESSERA_F64, N, a, LD, result, LD, NULL) == TESSERA_OK);
  require("its inverse", equal_there(result, square, N, N));
  tessera_cholesky(TESSERA_F64, TESSERA_LOWER, N, positive, N, square, N, NULL);
  require("executor_cholesky in place",
          tessera_executor_cholesky(where, TESSERA_F64, TESSERA_LOWER, N, p, LD, p, LD, NULL) == TESSERA_OK);
  require("its factor", equal_there(p, square, N, N));
  tessera_lu(TESSERA_F64, N, N, general, N, square, N, expected, NULL);
  require("executor_lu", tessera_executor_lu(where, TESSERA_F64, N, N, a, LD, result, LD, pivots, NULL) == TESSERA_OK);
  require("its factors", equal_there(result, square, N, N) && memcmp(pivots, expected, sizeof pivots) == 0);
  tessera_free(where, result);
  result = put(NULL, 0, 0);
  tessera_qr(TESSERA_F64, N, 2, tall, 2, q, 2, r, 2, NULL);
  require("executor_qr",
          tessera_executor_qr(where, TESSERA_F64, N, 2, t, LD, result, LD, second, LD, NULL) == TESSERA_OK);
  require("its factors", equal_there(result, q, N, 2) && equal_there(second, r, 2, 2));

  tessera_solve_refined(N, 2, general, N, b, 2, x, 2, NULL);
  tessera_free(where, result);
  result = put(NULL, 0, 0);
  require("executor_solve_refined",
          tessera_executor_solve_refined(where, N, 2, a, LD, right, LD, result, LD, NULL) == TESSERA_OK);
  require("its solution", equal_there(result, x, N, 2));

  refused("executor_lu", tessera_executor_lu(where, TESSERA_F64, N, N, a, LD, result, LD, NULL, NULL),
          "pivots is null; pass the address of 3 numbers");
  refused("executor_solve", tessera_executor_solve(where, TESSERA_F64, N, 2, a, 2, right, LD, result, LD, NULL),
          "a: ld = 2, and its rows have 3 elements");
  refused("executor_inverse", tessera_executor_inverse(NULL, TESSERA_F64, N, a, LD, result, LD, NULL),
          "executor is null; get one with tessera_get_executor()");
  refused("executor_inverse", tessera_executor_inverse(where, TESSERA_FLOAT16, N, a, LD, result, LD, NULL),
          "f32 and f64");
  require("synchronize", tessera_synchronize(where) == TESSERA_OK);
  void* all[] = {a, p, right, t, result, second};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) tessera_free(where, all[i]);
}

int main(int count, char** words) {
  executor_memory(chosen_backend(count, words));
  return failures == 0 ? 0 : 1;
}
