#pragma once

/* This program's own handlers of wrong arguments, which note what they are told. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "names.h"

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
