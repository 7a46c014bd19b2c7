/* Batches of complex products: strided ones and groups, in C with either layout and in Fortran, against sums of whole
 * numbers; illegal arguments by MKL's positions. Exit status: failed checks. */
#include <complex.h>
#include <stdio.h>
#include <string.h>

#include "handlers.h"

typedef float complex c32;
typedef double complex c64;

void NAME(cblas_cgemm_batch_strided)(int, int, int, blas_int, blas_int, blas_int, const void*, const void*, blas_int,
                                     blas_int, const void*, blas_int, blas_int, const void*, void*, blas_int, blas_int,
                                     blas_int);
void NAME(zgemm_batch_strided_)(const char*, const char*, const blas_int*, const blas_int*, const blas_int*, const c64*,
                                const c64*, const blas_int*, const blas_int*, const c64*, const blas_int*,
                                const blas_int*, const c64*, c64*, const blas_int*, const blas_int*, const blas_int*);
void NAME(cblas_zgemm_batch)(int, const int*, const int*, const blas_int*, const blas_int*, const blas_int*,
                             const void*, const void**, const blas_int*, const void**, const blas_int*, const void*,
                             void**, const blas_int*, blas_int, const blas_int*);
void NAME(cgemm_batch_)(const char*, const char*, const blas_int*, const blas_int*, const blas_int*, const c32*,
                        const c32**, const blas_int*, const c32**, const blas_int*, const c32*, c32**, const blas_int*,
                        const blas_int*, const blas_int*);

enum { ld = 7, size = ld * ld, most = 5 };

static void expect(const char* name, int64_t wanted) {
  if (position != wanted || (wanted != 0 && strcmp(routine, name) != 0)) {
    ++failures;
    printf("%s: position %lld told by '%s', must be %lld\n", name, (long long)position, routine, (long long)wanted);
  }
  position = 0;
  routine[0] = '\0';
}

static c64 a[most * size], b[most * size], before[most * size], c[most * size];
static c32 fa[most * size], fb[most * size], fc[most * size];
static const c64 alpha[2] = {2 - I, 1}, beta[2] = {I, 2};
static const c32 falpha[2] = {2 - I, 1}, fbeta[2] = {I, 2};

static void reset(void) {
  for (int i = 0; i < most * size; ++i) {
    fa[i] = (c32)(a[i] = (i % 13 - 6) + (i % 5 - 2) * I);
    fb[i] = (c32)(b[i] = (i % 11 - 5) + (i % 3 - 1) * I);
    fc[i] = (c32)(c[i] = before[i] = i % 7 + (i % 6) * I);
  }
}

static int at(int layout, int i, int j) { return layout == row_major ? i * ld + j : j * ld + i; }
static c64 op_at(const c64* x, int layout, int op, int i, int j) {
  if (op == no_trans) return x[at(layout, i, j)];
  return op == conj_trans ? conj(x[at(layout, j, i)]) : x[at(layout, j, i)];
}

/* Product number p of the batch, as group g has it. */
static void check(const char* name, int p, int g, int layout, int op_a, int op_b, int m, int n, int k, int f32) {
  const int o = p * size;
  for (int i = 0; i < ld; ++i)
    for (int j = 0; j < ld; ++j) {
      const int place = o + at(layout, i, j);
      c64 expected = before[place], sum = 0;
      if (i < m && j < n) {
        for (int q = 0; q < k; ++q) sum += op_at(a + o, layout, op_a, i, q) * op_at(b + o, layout, op_b, q, j);
        expected = alpha[g] * sum + beta[g] * expected;
      }
      if ((f32 ? (c64)fc[place] : c[place]) == expected) continue;
      printf("%s: product %d, element (%d, %d) is wrong\n", name, p, i, j);
      ++failures;
      return;
    }
}

static void strided(int layout, int op_a, int op_b) {
  const blas_int m = 3, n = 4, k = 5, lead = ld, stride = size, count = 3;
  reset();
  NAME(cblas_cgemm_batch_strided)
  (layout, op_a, op_b, m, n, k, falpha, fa, ld, size, fb, ld, size, fbeta, fc, ld, size, count);
  for (int p = 0; p < count; ++p) check("cblas_cgemm_batch_strided", p, 0, layout, op_a, op_b, m, n, k, 1);
  const char* letters = "NTC";
  NAME(zgemm_batch_strided_)
  (letters + (op_a - no_trans), letters + (op_b - no_trans), &m, &n, &k, alpha, a, &lead, &stride, b, &lead, &stride,
   beta, c, &lead, &stride, &count);
  for (int p = 0; p < count; ++p) check("zgemm_batch_strided_", p, 0, col_major, op_a, op_b, m, n, k, 0);
}

static void groups(int layout) {
  const int op_a[2] = {conj_trans, no_trans}, op_b[2] = {no_trans, conj_trans};
  const blas_int m[2] = {2, 5}, n[2] = {3, 1}, k[2] = {4, 6}, lead[2] = {ld, ld}, sizes[2] = {2, 3}, count = 2;
  const void *as[most], *bs[most];
  void* cs[most];
  const c32 *fas[most], *fbs[most];
  c32* fcs[most];
  for (int p = 0; p < most; ++p) {
    as[p] = a + p * size;
    bs[p] = b + p * size;
    cs[p] = c + p * size;
    fas[p] = fa + p * size;
    fbs[p] = fb + p * size;
    fcs[p] = fc + p * size;
  }
  reset();
  NAME(cblas_zgemm_batch)(layout, op_a, op_b, m, n, k, alpha, as, lead, bs, lead, beta, cs, lead, count, sizes);
  NAME(cgemm_batch_)("CN", "NC", m, n, k, falpha, fas, lead, fbs, lead, fbeta, fcs, lead, &count, sizes);
  for (int p = 0; p < most; ++p) {
    const int g = p < 2 ? 0 : 1;
    check("cblas_zgemm_batch", p, g, layout, op_a[g], op_b[g], m[g], n[g], k[g], 0);
    check("cgemm_batch_", p, g, col_major, op_a[g], op_b[g], m[g], n[g], k[g], 1);
  }
  expect("", 0);
  const blas_int bad[2] = {ld, 1}; /* of the second group: nothing of the first is computed */
  reset();
  NAME(cblas_zgemm_batch)(layout, op_a, op_b, m, n, k, alpha, as, bad, bs, lead, beta, cs, lead, count, sizes);
  expect("cblas_zgemm_batch", 9);
  NAME(cgemm_batch_)("CN", "NX", m, n, k, falpha, fas, lead, fbs, lead, fbeta, fcs, lead, &count, sizes);
  expect("CGEMM_BATCH", 2);
  NAME(cblas_cgemm_batch_strided)(layout, 111, 111, 3, 3, 3, falpha, fa, ld, size, fb, ld, size, fbeta, fc, ld, 5, 2);
  expect("cblas_cgemm_batch_strided", 17);
  for (int i = 0; i < most * size; ++i)
    if (c[i] != before[i] || fc[i] != (c32)before[i]) ++failures;
}

int main(void) {
  for (int layout = row_major; layout <= col_major; ++layout) {
    for (int op_a = no_trans; op_a <= conj_trans; ++op_a)
      for (int op_b = no_trans; op_b <= conj_trans; ++op_b) strided(layout, op_a, op_b);
    groups(layout);
  }
  return failures;
}
