/* The handlers of a host such as R or NumPy, in its program or in a library of its. */
#include <stddef.h>
#include <stdio.h>

#include "../names.h"

char heard[128] = "";

void NAME(xerbla_)(const char* routine, const blas_int* position, size_t length);
void NAME(xerbla_)(const char* routine, const blas_int* position, size_t length) {
  snprintf(heard, sizeof heard, "%.*s %ld", (int)length, routine, (long)*position);
}
void NAME(cblas_xerbla)(blas_int position, const char* routine, const char* form, ...);
void NAME(cblas_xerbla)(blas_int position, const char* routine, const char* form, ...) {
  (void)form;
  snprintf(heard, sizeof heard, "%s %ld", routine, (long)position);
}
