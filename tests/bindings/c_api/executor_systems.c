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

/* Level 3. The lower triangle of the matrix counts; the numbers are whole, so that every order of sums has the same
 * result. Factors are exact. */
static void level_3(tessera_backend backend) {
  static const double b[N * 2] = {1, 2, 3, 4, 5, 6}, lower[N * N] = {4, 9, 9, 2, 5, 9, 1, 2, 5};
  static const double product[N * 2] = {8, 16, 34, 48, 64, 80};       /* 2·T·B */
  static const double of_transpose[N * 2] = {15, 22, 25, 32, 25, 30}; /* Tᵀ·B */
  static const double symmetric[N * 2] = {15, 22, 27, 36, 32, 40};    /* A·B */
  static const double gram[N * N] = {16, 7, 7, 8, 29, 7, 4, 12, 30};  /* T·Tᵀ, lower, of the triangle alone */
  static const double alone[N * N] = {4, 0, 0, 2, 5, 0, 1, 2, 5}, sevens[N * N] = {7, 7, 7, 7, 7, 7, 7, 7, 7};
  void *t = NULL, *x = NULL, *c = NULL, *a = NULL;
  require("get_executor", tessera_get_executor(backend, &where) == TESSERA_OK);
  t = put(lower, N, N);
  x = put(b, N, 2);
  require("executor_trmm", tessera_executor_trmm(where, TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER, TESSERA_NONE,
                                                 TESSERA_STORED_DIAGONAL, N, 2, 2, t, LD, x, LD) == TESSERA_OK);
  require("its product", equal_there(x, product, N, 2));
  require("executor_trsm", tessera_executor_trsm(where, TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER, TESSERA_NONE,
                                                 TESSERA_STORED_DIAGONAL, N, 2, 0.5, t, LD, x, LD) == TESSERA_OK);
  require("its solution", equal_there(x, b, N, 2));
  c = put(NULL, 0, 0);
  require("executor_symm", tessera_executor_symm(where, TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER, N, 2, 1, t, LD,
                                                 x, LD, 0, c, LD) == TESSERA_OK);
  require("its product", equal_there(c, symmetric, N, 2));
  require("executor_trmm",
          tessera_executor_trmm(where, TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER, TESSERA_TRANSPOSE,
                                TESSERA_STORED_DIAGONAL, N, 2, 1, t, LD, x, LD) == TESSERA_OK);
  require("its product", equal_there(x, of_transpose, N, 2));
  tessera_free(where, c);
  a = put(alone, N, N);
  c = put(sevens, N, N);
  require("executor_syrk", tessera_executor_syrk(where, TESSERA_F64, TESSERA_LOWER, TESSERA_NONE, N, N, 1, a, LD, 0, c,
                                                 LD) == TESSERA_OK);
  require("its triangle", equal_there(c, gram, N, N));
  tessera_free(where, c);
  tessera_free(where, a);

  { /* two complex numbers a row, as pairs; 1 + i times the triangle (1 0; i 2) times (1; i) */
    static const double pairs[2 * 4] = {1, 0, 7, 7, 0, 1, 2, 0}, column[2 * 2] = {1, 0, 0, 1};
    static const double times[2 * 2] = {1, 1, -3, 3}, factor[2] = {1, 1}, one[2] = {1, 0}, zero[2] = {0, 0};
    static const double square[2 * 4] = {1, 0, 7, 7, 0, 1, 5, 0}; /* herk of the triangle alone */
    static const double triangle[2 * 4] = {1, 0, 0, 0, 0, 1, 2, 0}, seven[2 * 4] = {7, 7, 7, 7, 7, 7, 7, 7};
    static const double hermitian[2 * 2] = {2, 0, 0, 3}; /* (1 −i; i 2)·(1; i) */
    double got[2 * 4];
    void *z = NULL, *y = NULL, *w = NULL;
    tessera_allocate(where, sizeof pairs, &z);
    tessera_allocate(where, sizeof column, &y);
    tessera_allocate(where, sizeof seven, &w);
    tessera_copy_in(where, z, sizeof pairs, pairs, sizeof pairs, sizeof pairs, 1);
    tessera_copy_in(where, y, sizeof column, column, sizeof column, sizeof column, 1);
    require("executor_hemm", tessera_executor_hemm(where, TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER, 2, 1, one, z,
                                                   2, y, 1, zero, w, 1) == TESSERA_OK);
    tessera_copy_out(where, got, sizeof hermitian, w, sizeof hermitian, sizeof hermitian, 1);
    require("its product", memcmp(got, hermitian, sizeof hermitian) == 0);
    require("executor_symm_complex",
            tessera_executor_symm_complex(where, TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER, 2, 1, one, z, 2, y, 1,
                                          zero, w, 1) == TESSERA_OK);
    require("executor_trmm_complex",
            tessera_executor_trmm_complex(where, TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER, TESSERA_NONE,
                                          TESSERA_STORED_DIAGONAL, 2, 1, factor, z, 2, y, 1) == TESSERA_OK);
    tessera_copy_out(where, got, sizeof times, y, sizeof times, sizeof times, 1);
    require("its product", memcmp(got, times, sizeof times) == 0);
    require("executor_trsm_complex",
            tessera_executor_trsm_complex(where, TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER, TESSERA_NONE,
                                          TESSERA_UNIT_DIAGONAL, 2, 1, one, z, 2, y, 1) == TESSERA_OK);
    tessera_copy_in(where, z, sizeof triangle, triangle, sizeof triangle, sizeof triangle, 1);
    tessera_copy_in(where, w, sizeof seven, seven, sizeof seven, sizeof seven, 1);
    require("executor_herk", tessera_executor_herk(where, TESSERA_F64, TESSERA_LOWER, TESSERA_NONE, 2, 2, 1, z, 2, 0, w,
                                                   2) == TESSERA_OK);
    tessera_copy_out(where, got, sizeof square, w, sizeof square, sizeof square, 1);
    require("its triangle", memcmp(got, square, sizeof square) == 0);
    require("executor_syrk_complex", tessera_executor_syrk_complex(where, TESSERA_F64, TESSERA_LOWER, TESSERA_NONE, 2,
                                                                   2, one, z, 2, zero, w, 2) == TESSERA_OK);
    refused("executor_trmm_complex",
            tessera_executor_trmm_complex(where, TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER, TESSERA_NONE,
                                          TESSERA_STORED_DIAGONAL, 2, 1, NULL, z, 2, y, 1),
            "alpha is null; pass the address of a complex number");
    tessera_free(where, z);
    tessera_free(where, y);
    tessera_free(where, w);
  }
  refused("executor_trmm",
          tessera_executor_trmm(where, TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER, TESSERA_CONJUGATE_TRANSPOSE,
                                TESSERA_STORED_DIAGONAL, N, 2, 1, t, LD, x, LD),
          "op = 2 is none of 0 … 1");
  refused("executor_trmm",
          tessera_executor_trmm(where, TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER, TESSERA_NONE,
                                TESSERA_STORED_DIAGONAL, N, 2, 1, t, 2, x, LD),
          "ld");
  refused("executor_symm",
          tessera_executor_symm(NULL, TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER, N, 2, 1, t, LD, x, LD, 0, x, LD),
          "executor is null");
  require("synchronize", tessera_synchronize(where) == TESSERA_OK);
  tessera_free(where, t);
  tessera_free(where, x);
}

int main(int count, char** words) {
  const tessera_backend backend = count > 1 && strcmp(words[1], "cuda") == 0 ? TESSERA_CUDA : TESSERA_REFERENCE;
  executor_memory(backend);
  level_3(backend);
  return failures == 0 ? 0 : 1;
}
