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
  static const struct {
    const char *routine, *types;
  } routines[] = {{"cblas_%cgemm", "sdcz"},
                  {"cblas_%cgemm_batch", "sdcz"},
                  {"cblas_%cgemm_batch_strided", "sdcz"},
                  {"%cgemm_", "sdcz"},
                  {"%cgemm_batch_", "sdcz"},
                  {"%cgemm_batch_strided_", "sdcz"},
                  {"cblas_%csymm", "sdcz"},
                  {"cblas_%csyrk", "sdcz"},
                  {"cblas_%csyr2k", "sdcz"},
                  {"cblas_%ctrmm", "sdcz"},
                  {"cblas_%ctrsm", "sdcz"},
                  {"cblas_%chemm", "cz"},
                  {"cblas_%cherk", "cz"},
                  {"cblas_%cher2k", "cz"},
                  {"%csymm_", "sdcz"},
                  {"%csyrk_", "sdcz"},
                  {"%csyr2k_", "sdcz"},
                  {"%ctrmm_", "sdcz"},
                  {"%ctrsm_", "sdcz"},
                  {"%chemm_", "cz"},
                  {"%cherk_", "cz"},
                  {"%cher2k_", "cz"},
                  {"cblas_%cgemv", "sd"},
                  {"%cgemv_", "sd"},
                  {"%cpotrf_", "sd"},
                  {"%cpotrs_", "sd"},
                  {"%cposv_", "sd"},
                  {"%cgetrf_", "sd"},
                  {"%cgetrs_", "sd"},
                  {"%cgesv_", "sd"},
                  {"%ctrtrs_", "sd"},
                  {"%cgeqrf_", "sd"},
                  {"%cgeqr2_", "sd"},
                  {"%corgqr_", "sd"},
                  {"%corg2r_", "sd"},
                  {"%cormqr_", "sd"},
                  {"%corm2r_", "sd"},
                  {"%cgels_", "sd"},
                  {"%cgetri_", "sdcz"},
                  {"%cpotri_", "sdcz"},
                  {"%ctrtri_", "sdcz"},
                  {"%ctrti2_", "sdcz"},
                  {"%clauum_", "sdcz"},
                  {"%clauu2_", "sdcz"},
                  {"%cgecon_", "sdcz"},
                  {"%cpocon_", "sdcz"},
                  {"%ctrcon_", "sdcz"}};
  void* const program = dlopen(NULL, RTLD_NOW);
  void (*volatile known)(void) = KNOWN;
  int failed = known == NULL;
  for (size_t r = 0; r < sizeof routines / sizeof *routines; ++r)
    for (const char* type = routines[r].types; *type != 0; ++type) {
      char routine[64], plain[80], scipy[80];
      snprintf(routine, sizeof routine, routines[r].routine, *type);
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
