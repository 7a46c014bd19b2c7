/* A stand-in for a ScaLAPACK of 64-bit integers, which has the usual names, and (with AS_PROGRAM) a program of it. The
 * drop-in must not read its integers: the call reaches the stand-in as it is. */
#include <stdint.h>
#include <stdio.h>

void pdgemm_(const char*, const char*, const int64_t*, const int64_t*, const int64_t*, const double*, const double*,
             const int64_t*, const int64_t*, const int64_t*, const double*, const int64_t*, const int64_t*,
             const int64_t*, const double*, double*, const int64_t*, const int64_t*, const int64_t*);

#ifdef AS_PROGRAM
int main(void) {
  const int64_t large = (INT64_C(1) << 32) + 2, one = 1, descriptor[9] = {1, 0, 2, 2, 2, 2, 0, 0, 2};
  const double number = 1;
  double c = 0;
  pdgemm_("N", "N", &large, &one, &one, &number, &number, &one, &one, descriptor, &number, &one, &one, descriptor,
          &number, &c, &one, &one, descriptor);
  return 0;
}
#else
int64_t numroc_(const int64_t*, const int64_t*, const int64_t*, const int64_t*, const int64_t*);
int64_t numroc_(const int64_t* n, const int64_t* block, const int64_t* process, const int64_t* source,
                const int64_t* processes) {
  const int64_t turn = (*processes + *process - *source) % *processes, blocks = *n / *block,
                extra = blocks % *processes;
  return blocks / *processes * *block + (turn < extra ? *block : turn == extra ? *n % *block : 0);
}

void pdgemm_(const char* ta, const char* tb, const int64_t* m, const int64_t* n, const int64_t* k, const double* alpha,
             const double* a, const int64_t* ia, const int64_t* ja, const int64_t* da, const double* b,
             const int64_t* ib, const int64_t* jb, const int64_t* db, const double* beta, double* c, const int64_t* ic,
             const int64_t* jc, const int64_t* dc) {
  (void)ta, (void)tb, (void)n, (void)k, (void)alpha, (void)a, (void)ia, (void)ja, (void)da, (void)b, (void)ib, (void)jb;
  (void)db, (void)beta, (void)c, (void)ic, (void)jc, (void)dc;
  printf("the stand-in multiplies, m = %lld\n", (long long)*m);
}
#endif
