/* Every routine has the name too by which PyPI's NumPy and SciPy call it in the OpenBLAS that they bring. */

#include <dlfcn.h>
#include <stdio.h>

#if defined(TESSERA_BLAS_64)
#define SUFFIX "64_"
void sgemm_64_(void); /* a reference, so that the library is loaded */
#define KNOWN sgemm_64_
#else
#define SUFFIX ""
void sgemm_(void);
#define KNOWN sgemm_
#endif

int main(void) {
  static const char* const routines[] = {"cblas_%cgemm",
                                         "cblas_%cgemm_batch",
                                         "cblas_%cgemm_batch_strided",
                                         "%cgemm_",
                                         "%cgemm_batch_",
                                         "%cgemm_batch_strided_",
                                         "cblas_%ctrsm",
                                         "cblas_%csyrk",
                                         "cblas_%cgemv",
                                         "%ctrsm_",
                                         "%csyrk_",
                                         "%cgemv_",
                                         "%cpotrf_",
                                         "%cpotrs_",
                                         "%cposv_",
                                         "%cgetrf_",
                                         "%cgetrs_",
                                         "%cgesv_",
                                         "%ctrtrs_",
                                         "%cgeqrf_",
                                         "%cgeqr2_",
                                         "%corgqr_",
                                         "%corg2r_",
                                         "%cormqr_",
                                         "%corm2r_",
                                         "%cgels_"};
  const size_t all_types = 6; /* the first ones; the others are of real numbers */
  void* const program = dlopen(NULL, RTLD_NOW);
  void (*volatile known)(void) = KNOWN;
  int failed = known == NULL;
  for (size_t r = 0; r < sizeof routines / sizeof *routines; ++r)
    for (const char* type = r < all_types ? "sdcz" : "sd"; *type != 0; ++type) {
      char routine[64], plain[80], scipy[80];
      snprintf(routine, sizeof routine, routines[r], *type);
      snprintf(plain, sizeof plain, "%s%s", routine, SUFFIX);
      snprintf(scipy, sizeof scipy, "scipy_%s%s", routine, SUFFIX);
      const void* const one = dlsym(program, plain);
      const void* const other = dlsym(program, scipy);
      if (one == NULL || one != other) {
        fprintf(stderr, "%s is at %p and %s is at %p\n", plain, one, scipy, other);
        failed = 1;
      }
    }
  return failed;
}
