/* A product, fork(), and products in the parent and the child: equal results, and no process hangs. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "handlers.h"

void NAME(cblas_sgemm)(int, int, int, blas_int, blas_int, blas_int, float, const float*, blas_int, const float*,
                       blas_int, float, float*, blas_int);

enum { n = 300 };
static float a[n * n], b[n * n], before[n * n], after[n * n];

static void multiply(float* c) { NAME(cblas_sgemm)(row_major, no_trans, no_trans, n, n, n, 1, a, n, b, n, 0, c, n); }

int main(void) {
  for (int i = 0; i < n * n; ++i) {
    a[i] = (float)(i % 101) / 7;
    b[i] = (float)(i % 97) / 3;
  }
  multiply(before);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGALRM, SIG_DFL);
    alarm(30); /* ends a child that hangs */
  }
  multiply(after);
  failures += memcmp(before, after, sizeof before) != 0;
  if (child == 0) return failures;
  int status = 1;
  if (waitpid(child, &status, 0) != child || status != 0) {
    printf("the child's status is %d\n", status);
    ++failures;
  }
  return failures;
}
