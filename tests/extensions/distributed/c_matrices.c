/* Distributed matrices of the interface for C, which stay on devices. A plug-in of tests/system/plugin stands in for
 * them; each of the four ranks has one. The exit status says whether a check failed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/distributed/tessera_distributed.h>

#include "c_checks.h"

enum { n = 96, rows = 40, no_block = 0 };

static void succeeds(tessera_status status, const char* what) {
  if (status == TESSERA_OK) return;
  fprintf(stderr, "rank %d: %s: %s\n", rank, what, tessera_last_error());
  ++failures;
}

static tessera_pmatrix_options on_device(void) {
  tessera_pmatrix_options options = tessera_default_pmatrix_options();
  options.order = TESSERA_ROW_MAJOR;
  options.backend = TESSERA_CUDA;
  options.device = rank % 2;
  return options;
}

static tessera_pmatrix* make(tessera_grid* grid, tessera_dtype type, int is_complex, int64_t m, int64_t cols) {
  const tessera_pmatrix_options options = on_device();
  tessera_pmatrix* x = NULL;
  succeeds(tessera_pmatrix_create(grid, type, is_complex, m, cols, no_block, no_block, &options, &x), "create");
  return x;
}

/* Fills an array with numbers that every rank knows. */
static void fill(float* x, int count, int seed) {
  for (int i = 0; i < count; ++i) x[i] = 1.0F / (float)(1 + (i * 31 + seed) % 101) - 0.1F;
}

/* A chain of products stays on the devices: X·Y, and C := 0.5·(X·Y)·Yᵀ - 2·C, whose C the program changes in between.
 */
static void a_chain(tessera_grid* grid) {
  static float x[rows * n], y[n * n], c[rows * n], product[rows * n], got[rows * n];
  const float one = 1, half = 0.5F, minus_two = -2, zero = 0;
  fill(x, rows * n, 1);
  fill(y, n * n, 2);
  fill(c, rows * n, 3);
  tessera_pmatrix *dx = make(grid, TESSERA_F32, 0, rows, n), *dy = make(grid, TESSERA_F32, 0, n, n),
                  *dxy = make(grid, TESSERA_F32, 0, rows, n), *dc = make(grid, TESSERA_F32, 0, rows, n);
  succeeds(tessera_pmatrix_scatter(dx, rank == 0 ? x : NULL, n, 0), "scatter");
  succeeds(tessera_pmatrix_scatter(dy, rank == 1 ? y : NULL, n, 1), "scatter");
  succeeds(tessera_pmatrix_scatter(dc, rank == 0 ? c : NULL, n, 0), "scatter");
  succeeds(tessera_pmatrix_gemm(TESSERA_NONE, TESSERA_NONE, &one, dx, dy, &zero, dxy, NULL), "gemm");
  succeeds(tessera_pmatrix_gemm(TESSERA_NONE, TESSERA_TRANSPOSE, &half, dxy, dy, &minus_two, dc, NULL), "gemm");
  float* local = NULL;
  int64_t ld = 0;
  if (rank == 0) { /* only this rank changes its first element, which is the first one of C */
    succeeds(tessera_pmatrix_write(dc, (void**)&local, &ld), "write");
    local[0] = 7;
  }
  succeeds(tessera_pmatrix_gemm(TESSERA_NONE, TESSERA_NONE, &one, dx, dy, &one, dc, NULL), "gemm");
  succeeds(tessera_gemm_f32(TESSERA_NONE, TESSERA_NONE, rows, n, n, 1, x, n, y, n, 0, product, n, NULL), "alone");
  succeeds(tessera_gemm_f32(TESSERA_NONE, TESSERA_TRANSPOSE, rows, n, n, 0.5F, product, n, y, n, -2, c, n, NULL),
           "alone");
  c[0] = 7;
  succeeds(tessera_gemm_f32(TESSERA_NONE, TESSERA_NONE, rows, n, n, 1, x, n, y, n, 1, c, n, NULL), "alone");
  succeeds(tessera_pmatrix_gather(dc, rank == 2 ? got : NULL, n, 2), "gather");
  if (rank == 2) CHECK(memcmp(got, c, sizeof c) == 0);
  const void* read = NULL;
  succeeds(tessera_pmatrix_read(dc, &read, &ld), "read");
  if (rank == 0) CHECK(ld == n / 2 && ((const float*)read)[0] == c[0] && ((const float*)read)[ld] == c[n]);
  tessera_pmatrix_destroy(dx);
  tessera_pmatrix_destroy(dy);
  tessera_pmatrix_destroy(dxy);
  tessera_pmatrix_destroy(dc);
}

/* Elements are f64, or complex numbers of f32, which are multiplied by a conjugate transpose. */
static void other_types(tessera_grid* grid) {
  static double x[n * n], expected[n * n], got[n * n];
  static float z[2 * n * n], expected_z[2 * n * n], got_z[2 * n * n];
  for (int i = 0; i < n * n; ++i) x[i] = 1.0 / (i % 37 + 1);
  fill(z, 2 * n * n, 5);
  const double two = 2, zero = 0;
  const float i_alone[2] = {0, 1}, none[2] = {0, 0};
  tessera_pmatrix *dx = make(grid, TESSERA_F64, 0, n, n), *dc = make(grid, TESSERA_F64, 0, n, n),
                  *dz = make(grid, TESSERA_F32, 1, n, n), *dcz = make(grid, TESSERA_F32, 1, n, n);
  succeeds(tessera_pmatrix_scatter(dx, x, n, 0), "scatter");
  succeeds(tessera_pmatrix_gemm(TESSERA_NONE, TESSERA_NONE, &two, dx, dx, &zero, dc, NULL), "gemm");
  succeeds(tessera_pmatrix_gather(dc, got, n, 0), "gather");
  succeeds(tessera_pmatrix_scatter(dz, z, n, 0), "scatter");
  succeeds(tessera_pmatrix_gemm(TESSERA_CONJUGATE_TRANSPOSE, TESSERA_NONE, i_alone, dz, dz, none, dcz, NULL), "gemm");
  succeeds(tessera_pmatrix_gather(dcz, got_z, n, 0), "gather");
  succeeds(tessera_gemm_f64(TESSERA_NONE, TESSERA_NONE, n, n, n, 2, x, n, x, n, 0, expected, n, NULL), "alone");
  succeeds(tessera_gemm_complex_f32(TESSERA_CONJUGATE_TRANSPOSE, TESSERA_NONE, n, n, n, i_alone, z, n, z, n, none,
                                    expected_z, n, NULL),
           "alone");
  if (rank == 0) CHECK(memcmp(got, expected, sizeof got) == 0 && memcmp(got_z, expected_z, sizeof got_z) == 0);
  expect(tessera_pmatrix_gemm(TESSERA_CONJUGATE_TRANSPOSE, TESSERA_NONE, &two, dx, dx, &zero, dc, NULL),
         TESSERA_INVALID_ARGUMENT, "op_a = 2");
  expect(tessera_pmatrix_gemm(TESSERA_NONE, TESSERA_NONE, &two, dx, dz, &zero, dc, NULL), TESSERA_INVALID_ARGUMENT,
         "complex f32");
  tessera_pmatrix_destroy(dx);
  tessera_pmatrix_destroy(dc);
  tessera_pmatrix_destroy(dz);
  tessera_pmatrix_destroy(dcz);
}

/* On a rank alone nothing crosses to the host, which therefore needs no memory, unless C is there. */
static void plans(void) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  const float one = 1, zero = 0;
  tessera_grid* alone = NULL;
  succeeds(tessera_grid_create(&comm, sizeof comm, 1, 1, 1, 0, &alone), "grid");
  tessera_pmatrix *x = make(alone, TESSERA_F32, 0, n, n), *c = make(alone, TESSERA_F32, 0, n, n), *host = NULL;
  succeeds(tessera_pmatrix_create(alone, TESSERA_F32, 0, n, n, no_block, no_block, NULL, &host), "create");
  tessera_pgemm_plan plan = {.size = sizeof plan};
  succeeds(tessera_plan_pmatrix_gemm(TESSERA_NONE, TESSERA_NONE, &one, x, x, &zero, c, NULL, &plan), "plan");
  CHECK(strcmp(plan.engine, "summa") == 0 && plan.host_bytes == 0 && (plan.device_bytes > 0) == (rank == 0));
  const size_t without_host = plan.host_bytes + plan.device_bytes;
  succeeds(tessera_plan_pmatrix_gemm(TESSERA_NONE, TESSERA_NONE, &one, x, x, &zero, host, NULL, &plan), "plan");
  CHECK((plan.host_bytes > 0) == (rank == 0));
  tessera_pgemm_options options = tessera_default_pgemm_options();
  options.memory_limit = without_host + (rank == 0 ? 0 : 1);
  succeeds(tessera_pmatrix_gemm(TESSERA_NONE, TESSERA_NONE, &one, x, x, &zero, c, &options), "gemm");
  options.memory_limit -= 1;
  expect(tessera_pmatrix_gemm(TESSERA_NONE, TESSERA_NONE, &one, x, x, &zero, c, &options), TESSERA_OUT_OF_MEMORY,
         "rank 0");
  plan.size = rank == 3 ? 1 : sizeof plan;
  expect(tessera_plan_pmatrix_gemm(TESSERA_NONE, TESSERA_NONE, &one, x, x, &zero, c, NULL, &plan),
         TESSERA_INVALID_ARGUMENT, "rank 3: plan->size = 1");
  tessera_grid_destroy(alone);
  tessera_pmatrix_destroy(x);
  tessera_pmatrix_destroy(c);
  tessera_pmatrix_destroy(host);
}

/* A mistake of one rank is an error of all. */
static void errors(tessera_grid* grid) {
  tessera_pmatrix_options options = on_device();
  tessera_pmatrix *x = make(grid, TESSERA_F32, 0, n, n), *none = x;
  const float one = 1;
  options.device = rank == 1 ? 2 : rank % 2;
  expect(tessera_pmatrix_create(grid, TESSERA_F32, 0, n, n, 0, 0, &options, &none), TESSERA_UNAVAILABLE, "rank 1");
  CHECK(none == NULL);
  options.device = -2;
  expect(tessera_pmatrix_create(grid, TESSERA_F32, 0, n, n, 0, 0, &options, &none), TESSERA_INVALID_ARGUMENT,
         "options.device = -2");
  options.backend = TESSERA_AUTO;
  options.device = 1;
  expect(tessera_pmatrix_create(grid, TESSERA_F32, 0, n, n, 0, 0, &options, &none), TESSERA_INVALID_ARGUMENT,
         "options.device = 1 of no backend");
  options.size = 3;
  expect(tessera_pmatrix_create(grid, TESSERA_F32, 0, n, n, 0, 0, &options, &none), TESSERA_INVALID_ARGUMENT,
         "options.size = 3");
  options = on_device();
  expect(tessera_pmatrix_create(grid, TESSERA_F32, 0, 100000, 100000, 0, 0, &options, &none), TESSERA_OUT_OF_MEMORY,
         "device is full");
  expect(tessera_pmatrix_create(grid, TESSERA_F32, 0, -1, n, 0, 0, NULL, &none), TESSERA_INVALID_ARGUMENT, "-1×96");
  expect(tessera_pmatrix_create(grid, TESSERA_FLOAT16, 1, n, n, 0, 0, NULL, &none), TESSERA_INVALID_ARGUMENT,
         "type = 2");
  expect(tessera_pmatrix_create(grid, TESSERA_F32, 0, n, n, 0, 0, NULL, rank == 2 ? NULL : &none),
         TESSERA_INVALID_ARGUMENT, "rank 2: matrix is null");
  expect(tessera_pmatrix_create(NULL, TESSERA_F32, 0, n, n, 0, 0, NULL, &none), TESSERA_INVALID_ARGUMENT,
         "grid is null");
  expect(tessera_pmatrix_gemm(TESSERA_NONE, TESSERA_NONE, &one, rank == 1 ? NULL : x, x, &one, x, NULL),
         TESSERA_INVALID_ARGUMENT, "rank 1: a is null");
  expect(tessera_pmatrix_gemm(TESSERA_NONE, TESSERA_NONE, rank == 1 ? NULL : &one, x, x, &one, x, NULL),
         TESSERA_INVALID_ARGUMENT, "rank 1: alpha is null");
  expect(tessera_pmatrix_gemm(TESSERA_NONE, TESSERA_NONE, &one, x, x, &one, NULL, NULL), TESSERA_INVALID_ARGUMENT,
         "c is null");
  expect(tessera_pmatrix_gemm(TESSERA_NONE, TESSERA_NONE, &one, x, x, &one, x, NULL), TESSERA_INVALID_ARGUMENT,
         "c overlaps a in this rank's memory");
  expect(tessera_pmatrix_scatter(x, rank == 0 ? (const void*)&one : NULL, 1, 0), TESSERA_INVALID_ARGUMENT, "ld");
  expect(tessera_pmatrix_read(NULL, NULL, NULL), TESSERA_INVALID_ARGUMENT, "matrix is null");
  tessera_pmatrix_destroy(x);
  tessera_pmatrix_destroy(NULL);
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  const MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Comm_rank(comm, &rank);
  tessera_grid* grid = NULL;
  succeeds(tessera_grid_create(&comm, sizeof comm, 2, 2, 1, 0, &grid), "grid");
  if (grid != NULL) {
    a_chain(grid);
    other_types(grid);
    plans();
    errors(grid);
  }
  tessera_grid_destroy(grid);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
