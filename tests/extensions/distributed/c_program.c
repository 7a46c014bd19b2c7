/* The C interface to distributed products, on the ranks of mpirun: values, a row-major order, errors of one rank. The
 * exit status says whether a check failed. */
#include <complex.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/distributed/tessera_distributed.h>

#include "c_checks.h"

enum { m = 40, n = 33, k = 1500, mb = 7, nb = 5, kb = 600 };

/* Numbers that every rank knows. */
static double element(int seed, int i, int j) { return 1.0 / (1 + seed + (i * 31 + j * 17) % 101) - 0.01 * seed; }

/* A type of elements. */
typedef struct kind {
  tessera_dtype part;
  int is_complex;
} kind;
static const kind real_f64 = {TESSERA_F64, 0};

static size_t size_of(kind type) {
  return (type.part == TESSERA_F32 ? sizeof(float) : sizeof(double)) * (type.is_complex ? 2 : 1);
}

/* Stores a number at a place of an array of any type. */
static void store(kind type, void* array, size_t place, double complex value) {
  if (type.part == TESSERA_F32 && type.is_complex)
    ((float complex*)array)[place] = (float complex)value;
  else if (type.part == TESSERA_F32)
    ((float*)array)[place] = (float)creal(value);
  else if (type.is_complex)
    ((double complex*)array)[place] = value;
  else
    ((double*)array)[place] = creal(value);
}

static double complex number(int seed, int i, int j) { return element(seed, i, j) + element(seed + 5, i, j) * I; }

/* A rank's part of a rows×cols matrix on 2×2 ranks. */
typedef struct part {
  int rows, cols, local_rows, local_cols;
  int desc[9];
  size_t bytes;
  void* data;
} part;

static part make_part(kind type, int seed, int rows, int cols, int row_block, int col_block, int by_rows) {
  part x;
  x.rows = rows;
  x.cols = cols;
  x.local_rows = (int)tessera_local_size(rows, row_block, rank / 2, 0, 2);
  x.local_cols = (int)tessera_local_size(cols, col_block, rank % 2, 0, 2);
  const int ld = 1 + (by_rows ? x.local_cols : x.local_rows);
  const int desc[9] = {1, 0, rows, cols, row_block, col_block, 0, 0, ld};
  memcpy(x.desc, desc, sizeof desc);
  x.bytes = (size_t)ld * (size_t)((by_rows ? x.local_rows : x.local_cols) + 1) * size_of(type);
  x.data = calloc(1, x.bytes);
  for (int i = 0; i < x.local_rows; ++i)
    for (int j = 0; j < x.local_cols; ++j) {
      const int row = (i / row_block * 2 + rank / 2) * row_block + i % row_block;
      const int col = (j / col_block * 2 + rank % 2) * col_block + j % col_block;
      store(type, x.data, (size_t)(by_rows ? i * ld + j : i + j * ld), number(seed, row, col));
    }
  return x;
}

/* Computes C := alpha·Aᵀ·B + beta·C on this rank alone. */
static tessera_status multiply_alone(kind type, int64_t rows, int64_t cols, double complex alpha, const void* a,
                                     const void* b, double complex beta, void* c, int ld) {
  const tessera_op t = TESSERA_TRANSPOSE, none = TESSERA_NONE;
  const float complex narrow_alpha = (float complex)alpha, narrow_beta = (float complex)beta;
  if (type.part == TESSERA_F32 && type.is_complex)
    return tessera_gemm_complex_f32(t, none, rows, cols, k, &narrow_alpha, a, rows, b, cols, &narrow_beta, c, ld, NULL);
  if (type.part == TESSERA_F32)
    return tessera_gemm_f32(t, none, rows, cols, k, crealf(narrow_alpha), a, rows, b, cols, crealf(narrow_beta), c, ld,
                            NULL);
  if (type.is_complex)
    return tessera_gemm_complex_f64(t, none, rows, cols, k, &alpha, a, rows, b, cols, &beta, c, ld, NULL);
  return tessera_gemm_f64(t, none, rows, cols, k, creal(alpha), a, rows, b, cols, creal(beta), c, ld, NULL);
}

/* Asks what the product of products() will take, and that a limit one byte less is refused. */
static void plans(tessera_grid* grid, kind type, tessera_op op_a, const part* a, const part* b, const part* c,
                  const tessera_pgemm_options* options) {
  const double numbers[4] = {1, 0, 0, 0};
  const float narrow[4] = {1, 0, 0, 0};
  const void *one = numbers, *zero = numbers + 2;
  if (type.part == TESSERA_F32) one = narrow, zero = narrow + 2;
  tessera_pgemm_plan plan = {.size = sizeof plan};
  const tessera_op none = TESSERA_NONE;
  const tessera_status status =
      type.is_complex ? tessera_plan_pgemm_complex(grid, type.part, op_a, none, one, a->data, a->desc, b->data, b->desc,
                                                   zero, c->data, c->desc, options, &plan)
                      : tessera_plan_pgemm(grid, type.part, op_a, none, 1, a->data, a->desc, b->data, b->desc, 0,
                                           c->data, c->desc, options, &plan);
  CHECK(status == TESSERA_OK);
  CHECK(plan.engine != NULL && strcmp(plan.engine, "summa") == 0 && plan.counts_bytes != 0);
  CHECK(plan.bytes_expected > 0);
  CHECK(options->device_messages ? plan.device_bytes > 0 : plan.device_bytes == 0);
  tessera_pgemm_options limited = *options;
  limited.memory_limit = plan.host_bytes + plan.device_bytes - (rank == 3 ? 1 : 0);
  if (!type.is_complex)
    expect(tessera_pgemm(grid, type.part, op_a, none, 1, a->data, a->desc, b->data, b->desc, 0, c->data, c->desc,
                         &limited),
           TESSERA_OUT_OF_MEMORY, "rank 3");
}

/* Compares C's part with one rank's product of the whole matrices. Column-major matrices are multiplied as
 * transposes. */
static void products(tessera_grid* grid, kind type, int by_rows) {
  part a = make_part(type, 1, k, m, kb, mb, by_rows), b = make_part(type, 2, k, n, kb, nb, by_rows);
  part c = make_part(type, 3, m, n, mb, nb, by_rows), expected = make_part(type, 3, m, n, mb, nb, by_rows);
  const double complex alpha = type.is_complex ? 0.5 - I : 0.5, beta = type.is_complex ? 2 * I : -2;
  const float complex narrow_alpha = (float complex)alpha, narrow_beta = (float complex)beta;
  const int narrow = type.part == TESSERA_F32;
  tessera_pgemm_options options = tessera_default_pgemm_options();
  options.order = by_rows ? TESSERA_ROW_MAJOR : TESSERA_COLUMN_MAJOR;
  options.engine = "summa";
  options.threads = 1;
  options.device_messages = by_rows;
  const tessera_op op_a = type.is_complex ? TESSERA_CONJUGATE_TRANSPOSE : TESSERA_TRANSPOSE;
  plans(grid, type, op_a, &a, &b, &c, &options);
  tessera_status status;
  if (type.is_complex)
    status = tessera_pgemm_complex(grid, type.part, op_a, TESSERA_NONE, narrow ? (const void*)&narrow_alpha : &alpha,
                                   a.data, a.desc, b.data, b.desc, narrow ? (const void*)&narrow_beta : &beta, c.data,
                                   c.desc, &options);
  else
    status = tessera_pgemm(grid, type.part, op_a, TESSERA_NONE, creal(alpha), a.data, a.desc, b.data, b.desc,
                           creal(beta), c.data, c.desc, &options);
  if (status != TESSERA_OK) fprintf(stderr, "rank %d: %s\n", rank, tessera_last_error());
  CHECK(status == TESSERA_OK);

  /* This rank's rows of op(A), conjugated where the numbers are complex, and its columns of B, whole in k. */
  const int rows = c.local_rows, cols = c.local_cols, ld = c.desc[8];
  void *left = calloc((size_t)k * (size_t)(rows + 1), size_of(type)),
       *right = calloc((size_t)k * (size_t)(cols + 1), size_of(type));
  for (int l = 0; l < k; ++l) {
    for (int i = 0; i < rows; ++i)
      store(type, left, (size_t)(l * rows + i), conj(number(1, l, (i / mb * 2 + rank / 2) * mb + i % mb)));
    for (int j = 0; j < cols; ++j)
      store(type, right, (size_t)(l * cols + j), number(2, l, (j / nb * 2 + rank % 2) * nb + j % nb));
  }
  status = by_rows ? multiply_alone(type, rows, cols, alpha, left, right, beta, expected.data, ld)
                   : multiply_alone(type, cols, rows, alpha, right, left, beta, expected.data, ld);
  CHECK(status == TESSERA_OK);
  CHECK(memcmp(c.data, expected.data, c.bytes) == 0);
  free(left);
  free(right);
  free(a.data);
  free(b.data);
  free(c.data);
  free(expected.data);
}

/* Engines are named by their words. `pblas` has no layers and sends by itself, and there is no engine "suma". */
static void engines(tessera_grid* grid) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  tessera_grid* layers = NULL;
  CHECK(tessera_grid_create(&comm, sizeof comm, 1, 2, 2, 0, &layers) == TESSERA_OK);
  double memory[64] = {1};
  const int desc[9] = {1, 0, 8, 8, 8, 8, 0, 0, 8};
  double sums[64];
  tessera_pgemm_options options = tessera_default_pgemm_options();
  options.threads = 1;
  options.engine = "pblas";
  expect(tessera_pgemm(layers, TESSERA_F64, TESSERA_NONE, TESSERA_NONE, 1, memory, desc, memory, desc, 0, sums, desc,
                       &options),
         TESSERA_REJECTED, "pblas: ScaLAPACK has no layers");
  tessera_grid_destroy(layers);
  options.device_messages = 1;
  expect(tessera_pgemm(grid, TESSERA_F64, TESSERA_NONE, TESSERA_NONE, 1, memory, desc, memory, desc, 0, sums, desc,
                       &options),
         TESSERA_REJECTED, "pblas: it does not send panels from a device's memory");
  options.engine = "suma";
  expect(tessera_pgemm(grid, TESSERA_F64, TESSERA_NONE, TESSERA_NONE, 1, memory, desc, memory, desc, 0, sums, desc,
                       &options),
         TESSERA_INVALID_ARGUMENT, "'summa'");
}

/* A mistake of one rank is an error of all. */
static void errors(tessera_grid* grid) {
  part x = make_part(real_f64, 1, 8, 8, 2, 2, 0);
  part c = make_part(real_f64, 2, 8, 8, 2, 2, 0);
  const int* lie = rank == 1 ? NULL : x.desc;
  expect(tessera_pgemm(grid, TESSERA_F64, TESSERA_NONE, TESSERA_NONE, 1, x.data, lie, x.data, x.desc, 0, c.data, c.desc,
                       NULL),
         TESSERA_INVALID_ARGUMENT, "rank 1: desc_a is null");
  expect(tessera_pgemm(NULL, TESSERA_F64, TESSERA_NONE, TESSERA_NONE, 1, x.data, x.desc, x.data, x.desc, 0, c.data,
                       c.desc, NULL),
         TESSERA_INVALID_ARGUMENT, "grid is null");
  expect(tessera_pgemm_complex(grid, TESSERA_FLOAT16, TESSERA_NONE, TESSERA_NONE, &x, x.data, x.desc, x.data, x.desc,
                               &x, c.data, c.desc, NULL),
         TESSERA_INVALID_ARGUMENT, "type = 2");
  expect(tessera_pgemm_complex(grid, TESSERA_F64, TESSERA_NONE, TESSERA_NONE, NULL, x.data, x.desc, x.data, x.desc,
                               NULL, c.data, c.desc, NULL),
         TESSERA_INVALID_ARGUMENT, "alpha is null");
  tessera_pgemm_options options = tessera_default_pgemm_options();
  options.memory_limit = rank == 2 ? 8 : 0;
  options.threads = 1;
  expect(tessera_pgemm(grid, TESSERA_F64, TESSERA_NONE, TESSERA_NONE, 1, x.data, x.desc, x.data, x.desc, 0, c.data,
                       c.desc, &options),
         TESSERA_OUT_OF_MEMORY, "rank 2");
  options.size = 1;
  expect(tessera_pgemm(grid, TESSERA_F64, TESSERA_NONE, TESSERA_NONE, 1, x.data, x.desc, x.data, x.desc, 0, c.data,
                       c.desc, &options),
         TESSERA_INVALID_ARGUMENT, "options.size = 1");
  tessera_pgemm_plan plan = {.size = rank == 2 ? 1 : sizeof plan};
  expect(tessera_plan_pgemm(grid, TESSERA_F64, TESSERA_NONE, TESSERA_NONE, 1, x.data, x.desc, x.data, x.desc, 0, c.data,
                            c.desc, NULL, &plan),
         TESSERA_INVALID_ARGUMENT, "rank 2: plan->size = 1");
  expect(tessera_plan_pgemm(grid, TESSERA_F64, TESSERA_NONE, TESSERA_NONE, 1, x.data, x.desc, x.data, x.desc, 0, c.data,
                            c.desc, NULL, NULL),
         TESSERA_INVALID_ARGUMENT, "plan is null");
  plan.size = sizeof plan;
  CHECK(tessera_plan_pgemm(grid, TESSERA_F64, TESSERA_NONE, TESSERA_NONE, 0, x.data, x.desc, x.data, x.desc, 0, c.data,
                           c.desc, NULL, &plan) == TESSERA_OK);
  CHECK(plan.engine == NULL && plan.host_bytes == 0 && plan.device_bytes == 0); /* alpha is 0 */
  tessera_grid* none = grid;
  MPI_Comm comm = MPI_COMM_WORLD;
  expect(tessera_grid_create(&comm, sizeof comm, 9, 9, 1, 0, &none), TESSERA_INVALID_ARGUMENT, "81 ranks");
  CHECK(none == NULL);
  expect(tessera_grid_create(NULL, sizeof comm, 1, 1, 1, 0, &none), TESSERA_INVALID_ARGUMENT, "comm is null");
  CHECK(tessera_local_size(10, 3, 1, 0, 2) == 4 && tessera_local_size(-1, 3, 0, 0, 2) == 0);
  tessera_grid_destroy(NULL);
  free(x.data);
  free(c.data);
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Comm_rank(comm, &rank);
  tessera_grid* grid = NULL;
  CHECK(tessera_grid_create(&comm, sizeof comm, 2, 2, 1, 0, &grid) == TESSERA_OK);
  if (grid != NULL) {
    const kind kinds[4] = {{TESSERA_F32, 0}, {TESSERA_F64, 0}, {TESSERA_F32, 1}, {TESSERA_F64, 1}};
    for (int by_rows = 0; by_rows < 2; ++by_rows)
      for (int i = 0; i < 4; ++i) products(grid, kinds[i], by_rows);
    engines(grid);
    errors(grid);
  } else {
    fprintf(stderr, "%s\n", tessera_last_error());
  }
  tessera_grid_destroy(grid);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
