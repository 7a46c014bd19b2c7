/* Linear algebra in the C interface: solutions in both types, factors, certificates, and what is refused. The exit
 * status says whether a check failed. */
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

static void refused(const char* entry, tessera_status status, const char* part, double written) {
  if (status == TESSERA_INVALID_ARGUMENT && strstr(tessera_last_error(), part) != NULL && written == 7) return;
  fprintf(stderr, "%s: status %d, '%s' lacks '%s', or %g was written\n", entry, (int)status, tessera_last_error(), part,
          written);
  ++failures;
}

static int near(double x, double y) { return x > y - 1e-14 && x < y + 1e-14; }

enum { N = 3 };
static const double general[N * N] = {0, 2, 1, 4, 1, 0, 1, 0, 3};
static const double positive[N * N] = {4, 2, 0, 2, 5, 2, 0, 2, 5}; /* L = 2; 1 2; 0 1 2 */

static void solutions(void) {
  const double b[N * 2] = {7, 1, 6, 4, 10, 4}; /* X = 1 1; 2 0; 3 1 */
  double x[N * 4] = {0};
  const float narrow[4] = {0, 2, 4, 1}, right[2] = {2, 9};
  float y[2] = {0};
  tessera_options options = tessera_default_options();
  options.backend = TESSERA_REFERENCE;
  options.threads = 1;
  require("solve", tessera_solve(TESSERA_F64, N, 2, general, N, b, 2, x, 4, &options) == TESSERA_OK);
  require("solution", x[0] == 1 && x[4] == 2 && x[8] == 3 && x[5] == 0 && x[2] == 0);
  require("solve in f32", tessera_solve(TESSERA_F32, 2, 1, narrow, 2, right, 1, y, 1, NULL) == TESSERA_OK);
  require("solution in f32", y[0] == 2 && y[1] == 1);

  double refined[N * 2] = {0};
  require("solve_refined", tessera_solve_refined(N, 2, general, N, b, 2, refined, 2, NULL) == TESSERA_OK);
  require("its solution", refined[0] == 1 && refined[2] == 2 && refined[4] == 3 && refined[3] == 0);
  options.math = TESSERA_EMULATED_FP16X3;
  require("a mode", tessera_solve_refined(N, 2, general, N, b, 2, refined, 2, &options) == TESSERA_OK);
  require("its solution", refined[0] == 1 && refined[2] == 2 && refined[4] == 3 && refined[3] == 0);
  options.math = TESSERA_STRICT;

  double in_place[N] = {8, 18, 19};
  require("solve_positive in place", tessera_solve_positive(TESSERA_F64, TESSERA_UPPER, N, 1, positive, N, in_place, 1,
                                                            in_place, 1, NULL) == TESSERA_OK);
  require("its solution", in_place[0] == 1 && in_place[1] == 2 && in_place[2] == 3);

  double l[N * N], back[N] = {2, 5, 8};
  require("cholesky", tessera_cholesky(TESSERA_F64, TESSERA_LOWER, N, positive, N, l, N, NULL) == TESSERA_OK);
  require("its factor", l[0] == 2 && l[3] == 1 && l[4] == 2 && l[7] == 1 && l[8] == 2 && l[1] == 0 && l[5] == 0);
  require("triangular_solve",
          tessera_triangular_solve(TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER, TESSERA_STORED_DIAGONAL, N, 1, l, N,
                                   back, 1, back, 1, NULL) == TESSERA_OK);
  require("its solution", back[0] == 1 && back[1] == 2 && back[2] == 3);
  double row[N] = {1, 1, 4};
  require("triangular_solve from the right",
          tessera_triangular_solve(TESSERA_F64, TESSERA_ON_THE_RIGHT, TESSERA_LOWER, TESSERA_UNIT_DIAGONAL, N, 1, l, N,
                                   row, N, row, N, NULL) == TESSERA_OK);
  require("its solution", row[2] == 4 && row[1] == -3 && row[0] == 4);

  double lu[N * N], inverse[N * N];
  int64_t pivots[N];
  require("lu", tessera_lu(TESSERA_F64, N, N, general, N, lu, N, pivots, NULL) == TESSERA_OK);
  require("its pivots", pivots[0] == 1 && pivots[1] == 1 && pivots[2] == 2 && lu[0] == 4 && lu[6] == 0.25);
  require("inverse", tessera_inverse(TESSERA_F64, N, positive, N, inverse, N, NULL) == TESSERA_OK);
  require("its diagonal", inverse[0] * 64 == 21);

  const double tall[6] = {3, 1, 4, 1, 0, 2}; /* 3×2, whose first column is 5 long */
  const double sides[3] = {4, 5, 2};         /* tall times 1 1 */
  double q[6], r[4], fit[2], condition = 0;
  require("qr", tessera_qr(TESSERA_F64, 3, 2, tall, 2, q, 2, r, 2, NULL) == TESSERA_OK);
  require("its triangle", near(r[0], -5) && r[2] == 0 && near(q[0], -0.6) && near(q[2], -0.8) && near(q[4], 0));
  require("r alone", tessera_qr(TESSERA_F64, 3, 2, tall, 2, NULL, 0, r, 2, NULL) == TESSERA_OK);
  require("least_squares", tessera_least_squares(TESSERA_F64, 3, 2, 1, tall, 2, sides, 1, fit, 1, NULL) == TESSERA_OK);
  require("its solution", near(fit[0], 1) && near(fit[1], 1));
  require("condition", tessera_condition(TESSERA_F64, N, l, N, &condition, NULL) == TESSERA_OK);
  require("its estimate", condition > 1 && condition < 100);

  double c[4] = {1, 7, 1, 1};
  const double a[4] = {1, 2, 3, 4};
  require("syrk", tessera_syrk(TESSERA_F64, TESSERA_LOWER, TESSERA_NONE, 2, 2, 1, a, 2, 2, c, 2, NULL) == TESSERA_OK);
  require("its triangle", c[0] == 7 && c[1] == 7 && c[2] == 13 && c[3] == 27);
}

/* Numbers are pairs: the real part, and the imaginary one. */
static void complex_numbers(void) {
  const double general[8] = {0, 0, 0, 2, 4, 0, 1, 1};     /* 0 2i; 4 1+i */
  const double hermitian[8] = {4, 9, 2, 4, 2, -4, 14, 9}; /* 4 2+4i; 2-4i 14, whatever the diagonal's imaginary parts */
  const double b[4] = {0, 2, 5, 1};                       /* X = 1 1 */
  double x[4] = {0}, l[8], lu[8], inverse[8], condition = 0;
  int64_t pivots[2];
  require("solve_complex", tessera_solve_complex(TESSERA_F64, 2, 1, general, 2, b, 1, x, 1, NULL) == TESSERA_OK);
  require("its solution", near(x[0], 1) && near(x[1], 0) && near(x[2], 1) && near(x[3], 0));
  require("cholesky_complex", tessera_cholesky_complex(TESSERA_F64, TESSERA_LOWER, 2, hermitian, 2, l, 2, NULL) == 0);
  require("its factor", l[0] == 2 && l[1] == 0 && l[2] == 0 && l[3] == 0 && l[4] == 1 && l[5] == -2 && l[6] == 3);
  double right[4] = {6, 4, 16, -4}; /* X = 1 1 */
  require("solve_positive_complex", tessera_solve_positive_complex(TESSERA_F64, TESSERA_UPPER, 2, 1, hermitian, 2,
                                                                   right, 1, right, 1, NULL) == 0);
  require("its solution", near(right[0], 1) && near(right[1], 0) && near(right[2], 1) && near(right[3], 0));
  double side[4] = {2, 0, 4, -2};
  require("triangular_solve_complex",
          tessera_triangular_solve_complex(TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER, TESSERA_STORED_DIAGONAL, 2,
                                           1, l, 2, side, 1, side, 1, NULL) == TESSERA_OK);
  require("its solution", side[0] == 1 && side[1] == 0 && side[2] == 1 && side[3] == 0);
  require("lu_complex", tessera_lu_complex(TESSERA_F64, 2, 2, general, 2, lu, 2, pivots, NULL) == TESSERA_OK);
  require("its factors", pivots[0] == 1 && pivots[1] == 1 && lu[0] == 4 && lu[3] == 1 && lu[4] == 0 && lu[7] == 2);
  require("inverse_complex", tessera_inverse_complex(TESSERA_F64, 2, general, 2, inverse, 2, NULL) == TESSERA_OK);
  require("its elements", near(inverse[2], 0.25) && near(inverse[5], -0.5) && near(inverse[6], 0));
  require("condition_complex", tessera_condition_complex(TESSERA_F64, 2, general, 2, &condition, NULL) == TESSERA_OK);
  require("its estimate", condition > 1 && condition < 10);
  const float narrow[8] = {0, 0, 0, 2, 4, 0, 1, 1}, narrow_b[4] = {0, 2, 5, 1};
  float y[4];
  require("solve_complex in f32", tessera_solve_complex(TESSERA_F32, 2, 1, narrow, 2, narrow_b, 1, y, 1, NULL) == 0);
  require("its solution", y[0] > 0.999999F && y[0] < 1.000001F && y[2] > 0.999999F && y[2] < 1.000001F);
  const double tall[12] = {1, 4, 0, 0, 0, -8, 0, 0, 0, 0, 1, 1}; /* 3×2: 1+4i 0; -8i 0; 0 1+i */
  const double sides[6] = {1, 4, 0, -8, 1, 1};                   /* tall times 1 1 */
  double q[12], r[8], fit[4];
  require("qr_complex", tessera_qr_complex(TESSERA_F64, 3, 2, tall, 2, q, 2, r, 2, NULL) == TESSERA_OK);
  require("its triangle", near(r[0], -9) && r[1] == 0 && r[4] == 0 && r[5] == 0 && r[7] == 0);
  require("its columns", near(q[0] * -9, 1) && near(q[1] * -9, 4) && near(q[5] * -9, -8));
  require("r alone", tessera_qr_complex(TESSERA_F64, 3, 2, tall, 2, NULL, 0, r, 2, NULL) == TESSERA_OK);
  require("least_squares_complex",
          tessera_least_squares_complex(TESSERA_F64, 3, 2, 1, tall, 2, sides, 1, fit, 1, NULL) == TESSERA_OK);
  require("its solution", near(fit[0], 1) && near(fit[1], 0) && near(fit[2], 1) && near(fit[3], 0));
  const double zeros[8] = {0};
  x[0] = 7;
  refused("least_squares", tessera_least_squares_complex(TESSERA_F64, 2, 2, 1, zeros, 2, b, 1, x, 1, NULL), "column",
          x[0]);
  refused("r", tessera_qr_complex(TESSERA_F64, 2, 2, general, 2, x, 2, NULL, 2, NULL), "r is null", x[0]);
  refused("lda", tessera_solve_complex(TESSERA_F64, 2, 1, general, 1, b, 1, x, 1, NULL), "a: ld = 1", x[0]);
  refused("lda", tessera_solve_complex(TESSERA_F64, 2, 1, general, INT64_MAX / 16, b, 1, x, 1, NULL), "too large",
          x[0]);
  refused("type", tessera_solve_complex(TESSERA_FLOAT16, 2, 1, general, 2, b, 1, x, 1, NULL), "f32 and f64", x[0]);
  refused("singular", tessera_solve_complex(TESSERA_F64, 2, 1, zeros, 2, b, 1, x, 1, NULL), "pivot 0", x[0]);
  refused("positive", tessera_cholesky_complex(TESSERA_F64, TESSERA_LOWER, 2, general, 2, x, 2, NULL), "order 1", x[0]);
  refused("pivots", tessera_lu_complex(TESSERA_F64, 2, 2, general, 2, x, 2, NULL, NULL), "pivots is null", x[0]);
  require("nothing", tessera_solve_complex(TESSERA_F64, 0, 5, NULL, 0, NULL, 5, NULL, 5, NULL) == TESSERA_OK);
}

enum { COUNT = 20 };

/* Systems of one size at strides and by pointers, with one that has no solution. */
static void batches(void) {
  double a[COUNT * N * N], b[COUNT * N], x[COUNT * N], factors[COUNT * N * N], inverses[COUNT * N * N], alone[N * N];
  const void* all_a[COUNT];
  void* all_b[COUNT];
  int64_t info[COUNT], pivots[COUNT * N];
  int i, k;
  for (k = 0; k < COUNT; ++k) {
    for (i = 0; i < N * N; ++i) a[k * N * N + i] = general[i] + k;
    for (i = 0; i < N; ++i) b[k * N + i] = i - k;
    all_a[k] = a + k * N * N;
    all_b[k] = x + k * N;
  }
  memset(a + 7 * N * N, 0, sizeof(double) * N * N);
  memcpy(x, b, sizeof x);
  tessera_system_batch batch = {
      .n = N, .columns = 1, .count = COUNT, .a = a, .lda = N, .stride_a = N * N, .b = x, .ldb = 1, .stride_b = N};
  batch.info = info;
  require("solve_batch", tessera_solve_batch(TESSERA_F64, &batch, NULL) == TESSERA_OK);
  for (k = 0; k < COUNT; ++k) {
    require("its info", info[k] == (k == 7 ? 1 : 0));
    memcpy(alone, b + k * N, sizeof(double) * N);
    if (k != 7) tessera_solve(TESSERA_F64, N, 1, a + k * N * N, N, alone, 1, alone, 1, NULL);
    require("its bits", memcmp(alone, x + k * N, sizeof(double) * N) == 0);
  }
  double before[COUNT * N];
  memcpy(before, x, sizeof x);
  memcpy(x, b, sizeof x);
  batch.all_a = all_a;
  batch.all_b = all_b;
  batch.info = NULL;
  refused("a singular system", tessera_solve_batch(TESSERA_F64, &batch, NULL),
          "solve_batch: the matrix of system 7 is singular: pivot 0 of its factorisation", 7);
  require("the others", memcmp(before, x, sizeof x) == 0);

  memcpy(factors, a, sizeof a);
  memcpy(x, b, sizeof x);
  tessera_system_batch lu = {.n = N, .columns = N, .count = COUNT, .b = factors, .ldb = N, .stride_b = N * N};
  lu.pivots = pivots;
  lu.info = info;
  require("lu_batch", tessera_lu_batch(TESSERA_F64, &lu, NULL) == TESSERA_OK && info[7] == 1 && info[6] == 0);
  tessera_system_batch kept = {
      .n = N, .columns = 1, .count = 7, .a = factors, .lda = N, .stride_a = N * N, .b = x, .ldb = 1, .stride_b = N};
  kept.pivots = pivots;
  require("lu_solve_batch", tessera_lu_solve_batch(TESSERA_F64, TESSERA_NONE, &kept, NULL) == TESSERA_OK);
  require("its bits", memcmp(before, x, sizeof(double) * 7 * N) == 0);
  tessera_system_batch inverse = {.n = N, .columns = N, .count = 7, .a = a, .lda = N, .stride_a = N * N};
  inverse.b = inverses;
  inverse.ldb = N;
  inverse.stride_b = N * N;
  require("inverse_batch", tessera_inverse_batch(TESSERA_F64, &inverse, NULL) == TESSERA_OK);
  tessera_inverse(TESSERA_F64, N, a + 6 * N * N, N, alone, N, NULL);
  require("its bits", memcmp(alone, inverses + 6 * N * N, sizeof alone) == 0);

  double low[2 * N * N], right[2 * N] = {8, 18, 19, 8, 18, 19}, twice[2 * N] = {8, 18, 19, 8, 18, 19};
  memcpy(low, positive, sizeof positive);
  memcpy(low + N * N, positive, sizeof positive);
  tessera_system_batch half = {.n = N, .columns = N, .count = 2, .b = low, .ldb = N, .stride_b = N * N};
  require("cholesky_batch", tessera_cholesky_batch(TESSERA_F64, TESSERA_LOWER, &half, NULL) == TESSERA_OK);
  require("its factor", low[0] == 2 && low[N * N + 3] == 1 && low[N * N + 7] == 1 && low[1] == 2);
  tessera_system_batch solved = {
      .n = N, .columns = 1, .count = 2, .a = low, .lda = N, .stride_a = N * N, .b = right, .ldb = 1, .stride_b = N};
  require("cholesky_solve_batch",
          tessera_cholesky_solve_batch(TESSERA_F64, TESSERA_LOWER, &solved, NULL) == TESSERA_OK);
  solved.a = positive;
  solved.stride_a = 0; /* both systems have this matrix */
  solved.b = twice;
  require("solve_positive_batch",
          tessera_solve_positive_batch(TESSERA_F64, TESSERA_UPPER, &solved, NULL) == TESSERA_OK);
  for (i = 0; i < 2 * N; ++i) require("their solutions", right[i] == i % N + 1 && twice[i] == i % N + 1);

  const double complex_a[8] = {0, 0, 0, 2, 4, 0, 1, 1}; /* 0 2i; 4 1+i */
  double complex_b[4] = {0, 2, 5, 1}, identity[8], back[8] = {1, 0, 0, 0, 0, 0, 1, 0};
  tessera_system_batch complex_batch = {
      .n = 2, .columns = 1, .count = 1, .a = complex_a, .lda = 2, .b = complex_b, .ldb = 1};
  require("solve_batch_complex", tessera_solve_batch_complex(TESSERA_F64, &complex_batch, NULL) == TESSERA_OK);
  require("its solution", near(complex_b[0], 1) && near(complex_b[1], 0) && near(complex_b[2], 1));
  complex_batch.columns = 2;
  complex_batch.b = identity;
  complex_batch.ldb = 2;
  require("inverse_batch_complex", tessera_inverse_batch_complex(TESSERA_F64, &complex_batch, NULL) == TESSERA_OK);
  complex_batch.a = identity; /* the inverse's inverse, by its factors */
  tessera_system_batch complex_lu = {.n = 2, .columns = 2, .count = 1, .b = identity, .ldb = 2, .pivots = pivots};
  require("lu_batch_complex", tessera_lu_batch_complex(TESSERA_F64, &complex_lu, NULL) == TESSERA_OK);
  complex_batch.b = back;
  complex_batch.pivots = pivots;
  require("lu_solve_batch_complex",
          tessera_lu_solve_batch_complex(TESSERA_F64, TESSERA_NONE, &complex_batch, NULL) == TESSERA_OK);
  for (i = 0; i < 8; ++i) require("its elements", near(back[i], complex_a[i]));
  double hermitian[8] = {4, 9, 2, 4, 2, -4, 14, 9}, sides[4] = {6, 4, 16, -4}, others[4] = {6, 4, 16, -4};
  tessera_system_batch of_hermitian = {
      .n = 2, .columns = 1, .count = 1, .a = hermitian, .lda = 2, .b = sides, .ldb = 1};
  require("solve_positive_batch_complex",
          tessera_solve_positive_batch_complex(TESSERA_F64, TESSERA_LOWER, &of_hermitian, NULL) == TESSERA_OK);
  tessera_system_batch factor = {.n = 2, .columns = 2, .count = 1, .b = hermitian, .ldb = 2};
  require("cholesky_batch_complex",
          tessera_cholesky_batch_complex(TESSERA_F64, TESSERA_LOWER, &factor, NULL) == TESSERA_OK);
  of_hermitian.b = others;
  require("cholesky_solve_batch_complex",
          tessera_cholesky_solve_batch_complex(TESSERA_F64, TESSERA_LOWER, &of_hermitian, NULL) == TESSERA_OK);
  for (i = 0; i < 4; ++i) require("its solution", near(sides[i], i % 2 == 0) && sides[i] == others[i]);

  x[0] = 7;
  refused("null", tessera_solve_batch(TESSERA_F64, NULL, NULL), "batch is null", x[0]);
  batch.all_b = NULL;
  refused("pointers", tessera_solve_batch(TESSERA_F64, &batch, NULL), "batch.all_b is null, but batch.all_a", x[0]);
  batch.all_a = NULL;
  batch.stride_b = 1;
  refused("strides", tessera_solve_batch(TESSERA_F64, &batch, NULL), "b[0] and b[1] overlap in memory", x[0]);
  batch.stride_b = N;
  batch.lda = 2;
  refused("lda", tessera_solve_batch(TESSERA_F64, &batch, NULL), "lda = 2, and stored rows of a have 3", x[0]);
  refused("triangle", tessera_solve_positive_batch(TESSERA_F64, (tessera_triangle)2, &batch, NULL), "triangle = 2",
          x[0]);
  refused("op", tessera_lu_solve_batch(TESSERA_F64, (tessera_op)9, &batch, NULL), "op = 9", x[0]);
  refused("type", tessera_lu_batch(TESSERA_FLOAT16, &lu, NULL), "computed in f32 and f64", x[0]);
  lu.pivots = NULL;
  refused("pivots", tessera_lu_batch(TESSERA_F64, &lu, NULL), "pivots is null", x[0]);
}

static void certificates(void) {
  const double b[N] = {7, 6, 10};
  double x[N] = {1, 2, 3};
  tessera_solve_certificate answer;
  memset(&answer, 0, sizeof answer);
  answer.size = sizeof answer;
#define CHECK(count, limit)                                                                                            \
  tessera_check_solve(TESSERA_CHECKED_F64, TESSERA_CHECKED_F64, TESSERA_CHECKED_F64, N, count, general, N, x, 1, b, 1, \
                      TESSERA_NEAR_BY_ELEMENTS, limit, 0, &answer)
  require("check_solve", CHECK(1, 0) == TESSERA_OK);
  require("its answer", answer.verdict == TESSERA_RIGHT && answer.row == -1 && answer.by_elements_most < 1e-25);
  x[1] = 2.5;
  require("check_solve of another", CHECK(1, 0) == TESSERA_OK);
  require("its answer", answer.verdict == TESSERA_WRONG && answer.row == 0 && answer.residual == -1 &&
                            answer.scale == 15 && strstr(answer.text, "wrong: X (3×1, f64)") != NULL);
  require("a limit", CHECK(1, 0.5) == TESSERA_OK && answer.verdict == TESSERA_RIGHT);
  require("a wrong count", CHECK(-1, 0) == TESSERA_INVALID_ARGUMENT);
  require("a wrong limit", CHECK(1, -1) == TESSERA_INVALID_ARGUMENT);
  answer.size = 8;
  require("a wrong size", CHECK(1, 0) == TESSERA_INVALID_ARGUMENT);
}

static void complex_certificates(void) {
  const double a[8] = {1, 1, 0, 2, 3, 0, 1, -1}, b[4] = {1, 3, 5, 6};
  double x[4] = {0};
  float narrow[4];
  int i;
  tessera_solve_certificate answer;
  memset(&answer, 0, sizeof answer);
  answer.size = sizeof answer;
#define CHECK_COMPLEX(type_x, unknowns)                                                                        \
  tessera_check_solve_complex(TESSERA_CHECKED_F64, type_x, TESSERA_CHECKED_F64, 2, 1, a, 2, unknowns, 1, b, 1, \
                              TESSERA_NEAR_BY_ELEMENTS, 0, 1, &answer)
  require("solve_complex", tessera_solve_complex(TESSERA_F64, 2, 1, a, 2, b, 1, x, 1, NULL) == TESSERA_OK);
  require("check_solve_complex", CHECK_COMPLEX(TESSERA_CHECKED_F64, x) == TESSERA_OK);
  require("its answer", answer.verdict == TESSERA_RIGHT && answer.limit > 0.99e-14 && answer.limit < 1.14e-14);
  for (i = 0; i < 4; ++i) narrow[i] = (float)x[i];
  require("refined", tessera_solve_refined_complex(2, 1, a, 2, b, 1, x, 1, NULL) == TESSERA_OK);
  require("and certified", CHECK_COMPLEX(TESSERA_CHECKED_F64, x) == TESSERA_OK && answer.verdict == TESSERA_RIGHT);
  require("in f32", CHECK_COMPLEX(TESSERA_CHECKED_F32, narrow) == TESSERA_OK && answer.verdict == TESSERA_RIGHT);
  require("its name", strstr(answer.text, "right: X (2×1, complex64)") != NULL);
  x[3] = -x[3] + 1;
  require("check_solve_complex of another", CHECK_COMPLEX(TESSERA_CHECKED_F64, x) == TESSERA_OK);
  require("its answer", answer.verdict == TESSERA_WRONG && answer.residual > 0);
  require("a type", CHECK_COMPLEX(TESSERA_CHECKED_FLOAT16, x) == TESSERA_INVALID_ARGUMENT);
  require("a type's text", strstr(tessera_last_error(), "x has complex numbers with parts of f16") != NULL);
}

static void refusals(void) {
  const double b[N] = {1, 2, 3}, zeros[N * N] = {0};
  double x[N * N] = {7};
  tessera_options options = tessera_default_options();
  refused("n", tessera_solve(TESSERA_F64, -1, 1, general, N, b, 1, x, 1, NULL), "a is -1×-1", x[0]);
  refused("count", tessera_solve(TESSERA_F64, N, -2, general, N, b, 1, x, 1, NULL), "b is 3×-2", x[0]);
  refused("lda", tessera_solve(TESSERA_F64, N, 1, general, 2, b, 1, x, 1, NULL), "a: ld = 2", x[0]);
  refused("lda", tessera_solve(TESSERA_F64, N, 1, general, INT64_MAX, b, 1, x, 1, NULL), "a is too large", x[0]);
  refused("null", tessera_solve(TESSERA_F64, N, 1, NULL, N, b, 1, x, 1, NULL), "a is null", x[0]);
  refused("null", tessera_solve(TESSERA_F64, N, 1, general, N, b, 1, NULL, 1, NULL), "x is null", x[0]);
  refused("type", tessera_solve(TESSERA_FLOAT16, N, 1, general, N, b, 1, x, 1, NULL), "computed in f32 and f64", x[0]);
  refused("type", tessera_solve((tessera_dtype)99, N, 1, general, N, b, 1, x, 1, NULL), "99", x[0]);
  refused("singular", tessera_solve(TESSERA_F64, N, 1, zeros, N, b, 1, x, 1, NULL), "pivot", x[0]);
  refused("refined", tessera_solve_refined(N, 1, zeros, N, b, 1, x, 1, NULL), "factors in f32 do not lead", x[0]);
  refused("positive", tessera_cholesky(TESSERA_F64, TESSERA_LOWER, N, general, N, x, N, NULL), "order 1", x[0]);
  refused("triangle", tessera_cholesky(TESSERA_F64, (tessera_triangle)2, N, positive, N, x, N, NULL), "triangle = 2",
          x[0]);
  refused("side",
          tessera_triangular_solve(TESSERA_F64, (tessera_side)5, TESSERA_LOWER, TESSERA_UNIT_DIAGONAL, N, 1, general, N,
                                   b, N, x, N, NULL),
          "side = 5", x[0]);
  refused("least_squares", tessera_least_squares(TESSERA_F64, N, 2, 1, zeros, 2, b, 1, x, 1, NULL), "column", x[0]);
  refused("r", tessera_qr(TESSERA_F64, N, N, general, N, x, N, NULL, N, NULL), "r is null", x[0]);
  refused("condition", tessera_condition(TESSERA_F64, N, general, N, NULL, NULL), "condition is null", x[0]);
  refused("pivots", tessera_lu(TESSERA_F64, N, N, general, N, x, N, NULL, NULL), "pivots is null", x[0]);
  refused("k", tessera_syrk(TESSERA_F64, TESSERA_LOWER, TESSERA_NONE, 2, -1, 1, general, 2, 0, x, 2, NULL), "k = -1",
          x[0]);
  options.math = TESSERA_COMPENSATED;
  refused("math", tessera_solve(TESSERA_F64, N, 1, general, N, b, 1, x, 1, &options), "options.math", x[0]);
  refused("math", tessera_solve_refined(N, 1, general, N, b, 1, x, 1, &options), "the factors of real numbers", x[0]);
  options.math = TESSERA_STRICT;
  options.kernel = "naive";
  refused("kernel", tessera_solve(TESSERA_F64, N, 1, general, N, b, 1, x, 1, &options), "options.kernel", x[0]);
  options.kernel = NULL;
  options.threads = -3;
  refused("threads", tessera_solve(TESSERA_F64, N, 1, general, N, b, 1, x, 1, &options), "options.threads = -3", x[0]);
  require("nothing", tessera_solve(TESSERA_F64, 0, 5, NULL, 0, NULL, 5, NULL, 5, NULL) == TESSERA_OK);
  require("nothing", tessera_lu(TESSERA_F64, 0, 5, NULL, 5, NULL, 5, NULL, NULL) == TESSERA_OK);
}

int main(void) {
  solutions();
  complex_numbers();
  batches();
  certificates();
  complex_certificates();
  refusals();
  return failures == 0 ? 0 : 1;
}
