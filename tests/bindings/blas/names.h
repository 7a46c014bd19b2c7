#pragma once

/* The drop-in's names and its integers, of the width for which the test is compiled. */
#include <stdint.h>

#ifdef TESSERA_BLAS_64
#define NAME(name) name##64_
typedef int64_t blas_int;
#elif defined(TESSERA_BLAS_WIDE) /* the standard's names with 64-bit integers, as in Debian's libblas64 */
#define NAME(name) name
typedef int64_t blas_int;
#else
#define NAME(name) name
typedef int32_t blas_int;
#endif

enum { row_major = 101, col_major = 102, no_trans = 111, trans = 112, conj_trans = 113 };
