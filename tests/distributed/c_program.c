/* The C interface to distributed products, on the ranks of mpirun: values, a row-major order, errors of one rank. The
 * exit status says whether a check failed. */
#include <complex.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/tessera_distributed.h>

enum { m = 40, n = 33, k = 1500, mb = 7, nb = 5, kb = 600 };

static int failures = 0, rank = 0;

#define CHECK(condition)                                                               \
  do {                                                                                 \
    if (!(condition)) {                                                                \
      fprintf(stderr, "rank %d, line %d: not true: %s\n", rank, __LINE__, #condition); \
      ++failures;                                                                      \
    }                                                                                  \
  } while (0)

static void expect(tessera_status status, tessera_status expected, const char* part) {
  if (status == expected && strstr(tessera_last_error(), part) != NULL) return;
  fprintf(stderr, "rank %d: status %d, not %d, or '%s' lacks '%s'\n", rank, (int)status, (int)expected,
          tessera_last_error(), part);
  ++failures;
}

/* Numbers that every rank knows. */
static double element(int seed, int i, int j) { return 1.0 / (1 + seed + (i * 31 + j * 17) % 101) - 0.01 * seed; }

/* A rank's part of a rows×cols matrix on 2×2 ranks; numbers are complex or real. */
typedef struct part {
  int rows, cols, local_rows, local_cols;
  int desc[9];
  double complex* numbers;
  double* reals;
} part;

static part make_part(int seed, int rows, int cols, int row_block, int col_block, int by_rows) {
  part x;
  x.rows = rows;
  x.cols = cols;
  x.local_rows = (int)tessera_local_size(rows, row_block, rank / 2, 0, 2);
  x.local_cols = (int)tessera_local_size(cols, col_block, rank % 2, 0, 2);
  const int ld = 1 + (by_rows ? x.local_cols : x.local_rows);
  const int desc[9] = {1, 0, rows, cols, row_block, col_block, 0, 0, ld};
  memcpy(x.desc, desc, sizeof desc);
  const size_t size = (size_t)ld * (size_t)((by_rows ? x.local_rows : x.local_cols) + 1);
  x.numbers = calloc(size, sizeof *x.numbers);
  x.reals = calloc(size, sizeof *x.reals);
  for (int i = 0; i < x.local_rows; ++i)
    for (int j = 0; j < x.local_cols; ++j) {
      const int row = (i / row_block * 2 + rank / 2) * row_block + i % row_block;
      const int col = (j / col_block * 2 + rank % 2) * col_block + j % col_block;
      const size_t place = by_rows ? (size_t)(i * ld + j) : (size_t)(i + j * ld);
      x.reals[place] = element(seed, row, col);
      x.numbers[place] = element(seed, row, col) + element(seed + 5, row, col) * I;
    }
  return x;
}

static void free_part(part* x) {
  free(x->numbers);
  free(x->reals);
}

/* Compares C's part with one rank's product of the whole matrices. Column-major matrices are multiplied as
 * transposes. */
static void products(tessera_grid* grid, int by_rows, int of_complex) {
  part a = make_part(1, k, m, kb, mb, by_rows), b = make_part(2, k, n, kb, nb, by_rows);
  part c = make_part(3, m, n, mb, nb, by_rows), expected = make_part(3, m, n, mb, nb, by_rows);
  const double complex alpha = of_complex ? 0.5 - I : 0.5, beta = of_complex ? 2 * I : -2;
  tessera_pgemm_options options = tessera_default_pgemm_options();
  options.order = by_rows ? TESSERA_ROW_MAJOR : TESSERA_COLUMN_MAJOR;
  options.engine = "summa";
  options.threads = 1;
  const tessera_op op_a = of_complex ? TESSERA_CONJUGATE_TRANSPOSE : TESSERA_TRANSPOSE;
  tessera_status status;
  if (of_complex)
    status = tessera_pgemm_complex(grid, TESSERA_F64, op_a, TESSERA_NONE, &alpha, a.numbers, a.desc, b.numbers, b.desc,
                                   &beta, c.numbers, c.desc, &options);
  else
    status = tessera_pgemm(grid, TESSERA_F64, op_a, TESSERA_NONE, creal(alpha), a.reals, a.desc, b.reals, b.desc,
                           creal(beta), c.reals, c.desc, &options);
  if (status != TESSERA_OK) fprintf(stderr, "rank %d: %s\n", rank, tessera_last_error());
  CHECK(status == TESSERA_OK);

  /* This rank's rows of op(A) and columns of B, whole in k, and its part of C by rows or by columns. */
  const int rows = c.local_rows, cols = c.local_cols, ld = c.desc[8];
  double complex *left = calloc((size_t)k * (size_t)(rows + 1), sizeof *left),
                 *right = calloc((size_t)k * (size_t)(cols + 1), sizeof *right);
  double *real_left = calloc((size_t)k * (size_t)(rows + 1), sizeof *real_left),
         *real_right = calloc((size_t)k * (size_t)(cols + 1), sizeof *real_right);
  for (int l = 0; l < k; ++l) {
    for (int i = 0; i < rows; ++i) {
      const int row = (i / mb * 2 + rank / 2) * mb + i % mb;
      real_left[l * rows + i] = element(1, l, row);
      left[l * rows + i] = element(1, l, row) - element(6, l, row) * I; /* conjugated */
    }
    for (int j = 0; j < cols; ++j) {
      const int col = (j / nb * 2 + rank % 2) * nb + j % nb;
      real_right[l * cols + j] = element(2, l, col);
      right[l * cols + j] = element(2, l, col) + element(7, l, col) * I;
    }
  }
  const tessera_op t = TESSERA_TRANSPOSE, none = TESSERA_NONE;
  if (of_complex)
    status = by_rows ? tessera_gemm_complex_f64(t, none, rows, cols, k, &alpha, left, rows, right, cols, &beta,
                                                expected.numbers, ld, NULL)
                     : tessera_gemm_complex_f64(t, none, cols, rows, k, &alpha, right, cols, left, rows, &beta,
                                                expected.numbers, ld, NULL);
  else
    status = by_rows ? tessera_gemm_f64(t, none, rows, cols, k, creal(alpha), real_left, rows, real_right, cols,
                                        creal(beta), expected.reals, ld, NULL)
                     : tessera_gemm_f64(t, none, cols, rows, k, creal(alpha), real_right, cols, real_left, rows,
                                        creal(beta), expected.reals, ld, NULL);
  CHECK(status == TESSERA_OK);
  const size_t size = (size_t)ld * (size_t)(by_rows ? rows : cols);
  CHECK(memcmp(c.reals, expected.reals, size * sizeof *c.reals) == 0);
  CHECK(memcmp(c.numbers, expected.numbers, size * sizeof *c.numbers) == 0);
  free(left);
  free(right);
  free(real_left);
  free(real_right);
  free_part(&a);
  free_part(&b);
  free_part(&c);
  free_part(&expected);
}

/* A mistake of one rank is an error of all. */
static void errors(tessera_grid* grid) {
  part x = make_part(1, 8, 8, 2, 2, 0);
  part c = make_part(2, 8, 8, 2, 2, 0);
  const int* lie = rank == 1 ? NULL : x.desc;
  expect(tessera_pgemm(grid, TESSERA_F64, TESSERA_NONE, TESSERA_NONE, 1, x.reals, lie, x.reals, x.desc, 0, c.reals,
                       c.desc, NULL),
         TESSERA_INVALID_ARGUMENT, "rank 1: desc_a is null");
  expect(tessera_pgemm(NULL, TESSERA_F64, TESSERA_NONE, TESSERA_NONE, 1, x.reals, x.desc, x.reals, x.desc, 0, c.reals,
                       c.desc, NULL),
         TESSERA_INVALID_ARGUMENT, "grid is null");
  expect(tessera_pgemm_complex(grid, TESSERA_FLOAT16, TESSERA_NONE, TESSERA_NONE, &x, x.numbers, x.desc, x.numbers,
                               x.desc, &x, c.numbers, c.desc, NULL),
         TESSERA_INVALID_ARGUMENT, "type = 2");
  expect(tessera_pgemm_complex(grid, TESSERA_F64, TESSERA_NONE, TESSERA_NONE, NULL, x.numbers, x.desc, x.numbers,
                               x.desc, NULL, c.numbers, c.desc, NULL),
         TESSERA_INVALID_ARGUMENT, "alpha is null");
  tessera_pgemm_options options = tessera_default_pgemm_options();
  options.memory_limit = rank == 2 ? 8 : 0;
  options.threads = 1;
  expect(tessera_pgemm(grid, TESSERA_F64, TESSERA_NONE, TESSERA_NONE, 1, x.reals, x.desc, x.reals, x.desc, 0, c.reals,
                       c.desc, &options),
         TESSERA_OUT_OF_MEMORY, "rank 2");
  options.size = 1;
  expect(tessera_pgemm(grid, TESSERA_F64, TESSERA_NONE, TESSERA_NONE, 1, x.reals, x.desc, x.reals, x.desc, 0, c.reals,
                       c.desc, &options),
         TESSERA_INVALID_ARGUMENT, "options.size = 1");
  tessera_grid* none = grid;
  MPI_Comm comm = MPI_COMM_WORLD;
  expect(tessera_grid_create(&comm, sizeof comm, 9, 9, 1, 0, &none), TESSERA_INVALID_ARGUMENT, "81 ranks");
  CHECK(none == NULL);
  expect(tessera_grid_create(NULL, sizeof comm, 1, 1, 1, 0, &none), TESSERA_INVALID_ARGUMENT, "comm is null");
  CHECK(tessera_local_size(10, 3, 1, 0, 2) == 4 && tessera_local_size(-1, 3, 0, 0, 2) == 0);
  tessera_grid_destroy(NULL);
  free_part(&x);
  free_part(&c);
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Comm_rank(comm, &rank);
  tessera_grid* grid = NULL;
  CHECK(tessera_grid_create(&comm, sizeof comm, 2, 2, 1, 0, &grid) == TESSERA_OK);
  if (grid != NULL) {
    for (int by_rows = 0; by_rows < 2; ++by_rows)
      for (int of_complex = 0; of_complex < 2; ++of_complex) products(grid, by_rows, of_complex);
    errors(grid);
  } else {
    fprintf(stderr, "%s\n", tessera_last_error());
  }
  tessera_grid_destroy(grid);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
