#pragma once

/* What the tests of the drop-in share: its names with either width of integers, and this program's own handlers, which
 * note what they are told. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef TESSERA_BLAS_64
#define NAME(name) name##64_
typedef int64_t blas_int;
#else
#define NAME(name) name
typedef int32_t blas_int;
#endif

enum { row_major = 101, col_major = 102, no_trans = 111, trans = 112, conj_trans = 113 };

static int failures = 0;
static int64_t position = 0; /* that xerbla was told last */
static char routine[32];

void NAME(xerbla_)(const char* name, const blas_int* info, size_t length);
void NAME(xerbla_)(const char* name, const blas_int* info, size_t length) {
  position = *info;
  snprintf(routine, sizeof(routine), "%.*s", (int)length, name);
}
void NAME(cblas_xerbla)(blas_int info, const char* name, const char* form, ...);
void NAME(cblas_xerbla)(blas_int info, const char* name, const char* form, ...) {
  (void)form;
  position = info;
  snprintf(routine, sizeof(routine), "%s", name);
}
