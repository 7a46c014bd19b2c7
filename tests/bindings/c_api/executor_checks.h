/* What programs of the C interface in an executor's memory check with. The first argument may be the word cuda, else
 * the executor is the reference's, in host memory. */
#ifndef TESSERA_TESTS_EXECUTOR_CHECKS_H
#define TESSERA_TESTS_EXECUTOR_CHECKS_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <tessera/linear_algebra/tessera_executor_linear_algebra.h>

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

static tessera_executor* where = NULL;

static tessera_backend chosen_backend(int count, char** words) {
  return count > 1 && strcmp(words[1], "cuda") == 0 ? TESSERA_CUDA : TESSERA_REFERENCE;
}

/* Matrices of up to N rows and columns in the executor's memory, whose rows are LD elements apart, of `parts` doubles
 * each: 1, or 2 for complex numbers. What lies between the rows stays as it was. */
enum { N = 3, LD = N + 1, MOST = 2 * N * LD };

static void* put_parts(int64_t parts, const double* rows, int64_t count, int64_t cols) {
  void* memory = NULL;
  double between[MOST];
  const size_t bytes = (size_t)parts * N * LD * sizeof(double), row = (size_t)(parts * cols) * sizeof(double);
  for (int i = 0; i < MOST; ++i) between[i] = 7;
  require("allocate", tessera_allocate(where, bytes, &memory) == TESSERA_OK);
  require("fill", tessera_copy_in(where, memory, bytes, between, bytes, bytes, 1) == TESSERA_OK);
  if (rows == NULL) return memory;
  require("copy_in", tessera_copy_in(where, memory, (size_t)parts * LD * sizeof(double), rows, row, row,
                                     (size_t)count) == TESSERA_OK);
  return memory;
}

/* Are the numbers there equal to these, which have no gaps? */
static int equal_parts(int64_t parts, const void* memory, const double* rows, int64_t count, int64_t cols) {
  double all[MOST];
  const size_t bytes = (size_t)parts * N * LD * sizeof(double);
  require("copy_out", tessera_copy_out(where, all, bytes, memory, bytes, bytes, 1) == TESSERA_OK);
  for (int64_t i = 0; i < count; ++i) {
    if (memcmp(all + i * parts * LD, rows + i * parts * cols, (size_t)(parts * cols) * sizeof(double)) != 0) return 0;
    for (int64_t j = parts * cols; j < parts * LD; ++j)
      if (all[i * parts * LD + j] != 7) return 0;
  }
  return 1;
}

#endif
