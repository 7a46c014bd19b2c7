/* Linear algebra in an executor's memory, by the C interface. The first argument may be the word cuda, else the
 * executor is the reference's, in host memory. The exit status says whether a check failed. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <tessera/linear_algebra/tessera_linear_algebra.h>

static int failures = 0;

static void require(const char* what, int condition) {
  if (condition) return;
  fprintf(stderr, "%s: %s\n", what, tessera_last_error());
  ++failures;
}

static void refused(const char* entry, tessera_status status, const char* part) {
  if (status == TESSERA_INVALID_ARGUMENT && strstr(tessera_last_error(), part) != NULL) return;
  fprintf(stderr, "%s: status %d, '%s' lacks '%s'\n", entry, (int)status, tessera_last_error(), part);
  ++failures;
}

enum { N = 3 };
static const double general[N * N] = {0, 2, 1, 4, 1, 0, 1, 0, 3};
static const double positive[N * N] = {4, 2, 0, 2, 5, 2, 0, 2, 5}; /* L = 2; 1 2; 0 1 2 */

/* Matrices in an executor's memory, whose rows are N + 1 apart; what lies between them stays as it was. */
enum { LD = N + 1 };
static tessera_executor* where = NULL;

static void* put(const double* rows, int64_t count, int64_t cols) {
  void* memory = NULL;
  const double between[N * LD] = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7};
  require("allocate", tessera_allocate(where, sizeof between, &memory) == TESSERA_OK);
  require("fill",
          tessera_copy_in(where, memory, sizeof between, between, sizeof between, sizeof between, 1) == TESSERA_OK);
  if (rows == NULL) return memory;
  require("copy_in", tessera_copy_in(where, memory, LD * sizeof(double), rows, (size_t)cols * sizeof(double),
                                     (size_t)cols * sizeof(double), (size_t)count) == TESSERA_OK);
  return memory;
}

/* Are the numbers there equal to these, which have no gaps? */
static int equal_there(const void* memory, const double* rows, int64_t count, int64_t cols) {
  double all[N * LD];
  require("copy_out", tessera_copy_out(where, all, sizeof all, memory, sizeof all, sizeof all, 1) == TESSERA_OK);
  for (int64_t i = 0; i < count; ++i) {
    if (memcmp(all + i * LD, rows + i * cols, (size_t)cols * sizeof(double)) != 0) return 0;
    for (int64_t j = cols; j < LD; ++j)
      if (all[i * LD + j] != 7) return 0;
  }
  return 1;
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
  executor_memory(count > 1 && strcmp(words[1], "cuda") == 0 ? TESSERA_CUDA : TESSERA_REFERENCE);
  return failures == 0 ? 0 : 1;
}
