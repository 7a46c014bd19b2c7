/* Complex linear systems in an executor's memory, by the C interface: each function has the bits of the one for the
 * host's memory. The exit status says whether a check failed. */
#include "executor_checks.h"

static const double general[2 * N * N] = {0, 1, 2, -1, 1, 0.5, 4, 0, 1, 3, 0, -2, 1, 1, 0.25, 0, 3, -1};
static const double positive[2 * N * N] = {4, 0, 1, 1, 0, 0, 1, -1, 5, 0, 0, 2, 0, 0, 0, -2, 6, 0};
static const double b[2 * N * 2] = {7, 1, 1, 0, 6, -2, 4, 4, 10, 3, 4, -5},
                              tall[2 * N * 2] = {3, 1, 1, 0, 4, 2, 1, -1, 0, 1, 2, 2};

static void* put(const double* rows, int64_t count, int64_t cols) { return put_parts(2, rows, count, cols); }
/* Checks what lies there, and fills it with sevens again. */
static void must_hold(const char* what, void** memory, const double* rows, int64_t count, int64_t cols) {
  require(what, equal_parts(2, *memory, rows, count, cols));
  tessera_free(where, *memory);
  *memory = put(NULL, 0, 0);
}

static void solutions(void) {
  double x[2 * N * 2];
  void *a = put(general, N, N), *p = put(positive, N, N), *right = put(b, N, 2), *t = put(tall, N, 2);
  void* result = put(NULL, 0, 0);
  tessera_solve_complex(TESSERA_F64, N, 2, general, N, b, 2, x, 2, NULL);
  require("executor_solve_complex",
          tessera_executor_solve_complex(where, TESSERA_F64, N, 2, a, LD, right, LD, result, LD, NULL) == TESSERA_OK);
  must_hold("solution", &result, x, N, 2);
  tessera_solve_positive_complex(TESSERA_F64, TESSERA_UPPER, N, 2, positive, N, b, 2, x, 2, NULL);
  require("executor_solve_positive_complex",
          tessera_executor_solve_positive_complex(where, TESSERA_F64, TESSERA_UPPER, N, 2, p, LD, right, LD, result, LD,
                                                  NULL) == TESSERA_OK);
  must_hold("solution by Cholesky", &result, x, N, 2);
  tessera_triangular_solve_complex(TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER, TESSERA_STORED_DIAGONAL, N, 2,
                                   positive, N, b, 2, x, 2, NULL);
  require("executor_triangular_solve_complex",
          tessera_executor_triangular_solve_complex(where, TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER,
                                                    TESSERA_STORED_DIAGONAL, N, 2, p, LD, right, LD, result, LD,
                                                    NULL) == TESSERA_OK);
  must_hold("solution of a triangle", &result, x, N, 2);
  tessera_least_squares_complex(TESSERA_F64, N, 2, 2, tall, 2, b, 2, x, 2, NULL);
  require("executor_least_squares_complex",
          tessera_executor_least_squares_complex(where, TESSERA_F64, N, 2, 2, t, LD, right, LD, result, LD, NULL) ==
              TESSERA_OK);
  must_hold("least squares", &result, x, 2, 2);
  refused("executor_solve_complex",
          tessera_executor_solve_complex(where, TESSERA_F64, N, 2, a, 2, right, LD, result, LD, NULL),
          "a: ld = 2, and its rows have 3 elements");
  refused("executor_solve_complex",
          tessera_executor_solve_complex(where, TESSERA_F64, N, 2, t, LD, right, LD, NULL, LD, NULL), "x is null");
  void* all[] = {a, p, right, t, result};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) tessera_free(where, all[i]);
}

static void factors(void) {
  double square[2 * N * N], q[2 * N * 2], r[2 * 4];
  int64_t pivots[N], expected[N];
  void *a = put(general, N, N), *p = put(positive, N, N), *t = put(tall, N, 2);
  void *result = put(NULL, 0, 0), *second = put(NULL, 0, 0);
  tessera_inverse_complex(TESSERA_F64, N, general, N, square, N, NULL);
  require("executor_inverse_complex",
          tessera_executor_inverse_complex(where, TESSERA_F64, N, a, LD, result, LD, NULL) == TESSERA_OK);
  must_hold("inverse", &result, square, N, N);
  tessera_cholesky_complex(TESSERA_F64, TESSERA_LOWER, N, positive, N, square, N, NULL);
  require("executor_cholesky_complex in place",
          tessera_executor_cholesky_complex(where, TESSERA_F64, TESSERA_LOWER, N, p, LD, p, LD, NULL) == TESSERA_OK);
  must_hold("factor", &p, square, N, N);
  tessera_lu_complex(TESSERA_F64, N, N, general, N, square, N, expected, NULL);
  require("executor_lu_complex",
          tessera_executor_lu_complex(where, TESSERA_F64, N, N, a, LD, result, LD, pivots, NULL) == TESSERA_OK);
  must_hold("factors", &result, square, N, N);
  require("pivots", memcmp(pivots, expected, sizeof pivots) == 0);
  tessera_qr_complex(TESSERA_F64, N, 2, tall, 2, q, 2, r, 2, NULL);
  require("executor_qr_complex",
          tessera_executor_qr_complex(where, TESSERA_F64, N, 2, t, LD, result, LD, second, LD, NULL) == TESSERA_OK);
  must_hold("Q", &result, q, N, 2);
  must_hold("R", &second, r, 2, 2);
  refused("executor_lu_complex", tessera_executor_lu_complex(where, TESSERA_F64, N, N, a, LD, result, LD, NULL, NULL),
          "pivots is null; pass the address of 3 numbers");
  void* all[] = {a, p, t, result, second};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) tessera_free(where, all[i]);
}

int main(int count, char** words) {
  require("get_executor", tessera_get_executor(chosen_backend(count, words), &where) == TESSERA_OK);
  solutions();
  factors();
  require("synchronize", tessera_synchronize(where) == TESSERA_OK);
  return failures == 0 ? 0 : 1;
}
