/* A batch whose results share elements ends the program, with a message, before anything is written; results that only
 * lie between one another are computed. The argument names the routine; the exit status is 0 where a child that should
 * have been ended was, and a child that should not was not. */
#define _DEFAULT_SOURCE /* for MAP_ANONYMOUS */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "names.h"

enum { size = 64, count = 3 };

#define DECLARE(letter, T, R)                                                                                        \
  void NAME(cblas_##letter##gemm_batch)(int, const int*, const int*, const blas_int*, const blas_int*,               \
                                        const blas_int*, const R*, const T**, const blas_int*, const T**,            \
                                        const blas_int*, const R*, T**, const blas_int*, blas_int, const blas_int*); \
  void NAME(letter##gemm_batch_)(const char*, const char*, const blas_int*, const blas_int*, const blas_int*,        \
                                 const R*, const T**, const blas_int*, const T**, const blas_int*, const R*, T**,    \
                                 const blas_int*, const blas_int*, const blas_int*);
DECLARE(s, float, float)
DECLARE(d, double, double)
DECLARE(c, void, float)
DECLARE(z, void, double)

static const int none[2] = {no_trans, no_trans};
static const blas_int two[2] = {2, 2}, ld[2] = {8, 8}, groups = 2, sizes[2] = {2, 1};

/* Computes three 2x2 products whose results begin at these elements. */
#define MULTIPLY(letter, T, R, parts)                                                                                 \
  static void letter##_multiply(const int* places, void* memory, int fortran) {                                       \
    static const R one[4] = {1, (parts) == 1 ? 1 : 0, 1, 0}, operand[size] = {1};                                     \
    R* const c = memory;                                                                                              \
    const T* operands[count] = {operand, operand, operand};                                                           \
    T* results[count];                                                                                                \
    for (int p = 0; p < count; ++p) results[p] = c + (parts)*places[p];                                               \
    if (fortran) NAME(letter##gemm_batch_)                                                                            \
    ("NN", "NN", two, two, two, one, operands, ld, operands, ld, one, results, ld, &groups, sizes);                   \
    else NAME(cblas_##letter##gemm_batch)(row_major, none, none, two, two, two, one, operands, ld, operands, ld, one, \
                                          results, ld, 2, sizes);                                                     \
  }
MULTIPLY(s, float, float, 1)
MULTIPLY(d, double, double, 1)
MULTIPLY(c, void, float, 2)
MULTIPLY(z, void, double, 2)

/* Returns whether the child was ended, and nothing was written, as `refused` says. */
static int as_expected(void (*multiply)(const int*, void*, int), const int* places, int fortran, int refused) {
  unsigned char* const memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    multiply(places, memory, fortran);
    _exit(0);
  }
  int status = 0, written = 0;
  waitpid(child, &status, 0);
  for (int i = 0; i < 4096; ++i) written |= memory[i];
  munmap(memory, 4096);
  if (refused) return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && !written;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 && written;
}

int main(void) {
  void (*const all[])(const int*, void*, int) = {s_multiply, d_multiply, c_multiply, z_multiply};
  const int shared[4][count] = {{0, 0, 16}, {0, 2, 1}, {16, 0, 8}, {6, 2, 13}},
            apart[2][count] = {{0, 2, 4}, {18, 0, 2}};
  int failures = 0;
  for (int routine = 0; routine < 4; ++routine)
    for (int fortran = 0; fortran < 2; ++fortran) {
      for (int i = 0; i < 4; ++i)
        if (!as_expected(all[routine], shared[i], fortran, 1)) {
          printf("routine %d, fortran %d: shared results %d were computed\n", routine, fortran, i);
          ++failures;
        }
      for (int i = 0; i < 2; ++i)
        if (!as_expected(all[routine], apart[i], fortran, 0)) {
          printf("routine %d, fortran %d: results %d that are apart were not computed\n", routine, fortran, i);
          ++failures;
        }
    }
  return failures;
}
