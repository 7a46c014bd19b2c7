/* Calls with illegal arguments, for R: it is linked with the BLAS. */
#include <stddef.h>

void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
            const double*, const int*, const double*, double*, const int*, size_t, size_t);
void dtrsm_(const char*, const char*, const char*, const char*, const int*, const int*, const double*, const double*,
            const int*, double*, const int*, size_t, size_t, size_t, size_t);
void bad_gemm(void);
void bad_trsm(void);

static const int wrong = -1, two = 2;
static const double one = 1, a[4];
static double c[4];

void bad_gemm(void) { dgemm_("N", "N", &wrong, &two, &two, &one, a, &two, a, &two, &one, c, &two, 1, 1); }
void bad_trsm(void) { dtrsm_("L", "U", "N", "N", &wrong, &two, &one, a, &two, c, &two, 1, 1, 1, 1); }
