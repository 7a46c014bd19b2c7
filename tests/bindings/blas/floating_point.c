/* The drop-in in a program that is in another floating-point state, as a library that is made with -ffast-math leaves
 * it. Products and systems have the results of the default state, also on the threads that the first call makes, and
 * the program keeps its state. Exit status: failed checks. */
#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

#include "handlers.h"

void NAME(sgemm_)(const char*, const char*, const blas_int*, const blas_int*, const blas_int*, const float*,
                  const float*, const blas_int*, const float*, const blas_int*, const float*, float*, const blas_int*);
void NAME(cblas_sgemm)(int, int, int, blas_int, blas_int, blas_int, float, const float*, blas_int, const float*,
                       blas_int, float, float*, blas_int);
void NAME(cblas_cgemm)(int, int, int, blas_int, blas_int, blas_int, const void*, const void*, blas_int, const void*,
                       blas_int, const void*, void*, blas_int);

void NAME(dtrtrs_)(const char*, const char*, const char*, const blas_int*, const blas_int*, const double*,
                   const blas_int*, double*, const blas_int*, blas_int*);
void NAME(ztrtrs_)(const char*, const char*, const char*, const blas_int*, const blas_int*, const double*,
                   const blas_int*, double*, const blas_int*, blas_int*);
void NAME(dtrtri_)(const char*, const char*, const blas_int*, double*, const blas_int*, blas_int*);
void NAME(sgecon_)(const char*, const blas_int*, const float*, const blas_int*, const float*, float*, float*, blas_int*,
                   blas_int*);
void NAME(dgels_)(const char*, const blas_int*, const blas_int*, const blas_int*, double*, const blas_int*, double*,
                  const blas_int*, double*, const blas_int*, blas_int*);

enum { n = 150, states = 4 };

static const char* const names[states] = {"FTZ and DAZ", "downward", "upward with traps", "the default state"};
#ifdef __x86_64__
static const unsigned control[states] = {0x9FC0, 0x3F80, 0x4000, 0x1F80};
static unsigned get_state(void) { return _mm_getcsr(); }
static void set_state(unsigned state) { _mm_setcsr(state); }
#else
static const unsigned control[states] = {FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD, FE_TONEAREST};
static unsigned get_state(void) { return (unsigned)fegetround(); }
static void set_state(unsigned state) { fesetround((int)state); }
#endif

static float small[n * n], smaller[n * n], large[n * n], thirds[n * n], complex_small[2 * n * n];
static struct results {
  float by_columns[n * n], by_rows[n * n], scaled[n * n], inexact[n * n], complex[2 * n * n];
} found[states];

static void compute(struct results* r) {
  const blas_int size = n;
  const float one = 1, zero = 0, tiny = 0x1p-140f;
  const float complex_one[2] = {1, 0}, complex_zero[2] = {0, 0};
  NAME(sgemm_)("T", "N", &size, &size, &size, &one, smaller, &size, small, &size, &zero, r->by_columns, &size);
  NAME(cblas_sgemm)(row_major, no_trans, trans, n, n, n, one, small, n, smaller, n, zero, r->by_rows, n);
  NAME(cblas_sgemm)(row_major, no_trans, trans, n, n, n, tiny, large, n, large, n, zero, r->scaled, n);
  NAME(cblas_sgemm)(row_major, no_trans, trans, n, n, n, one, thirds, n, thirds, n, zero, r->inexact, n);
  NAME(cblas_cgemm)
  (row_major, no_trans, trans, n, n, n, complex_one, complex_small, n, complex_small, n, complex_zero, r->complex, n);
}

/* Systems whose diagonals are subnormal numbers, which are not 0 in any state. */
static struct systems {
  double triangle[2], complex[2], inverse[1], squares[2];
  float conditions[2];
  blas_int info[6];
} solved[states];
static const struct systems right = {{1, 0.5}, {1, 0}, {0x1p1023}, {1, 2}, {1, 0}, {0, 0, 0, 0, 0, 1}};

static void solve(struct systems* s) {
  static const double lower[4] = {0x1p-1060, 0x1p-1061, 0, 0x1p-1060}, imaginary[2] = {0, 0x1p-1060};
  const blas_int one = 1, two = 2, length = 8;
  double diagonal[4] = {0x1p-1060, 0, 0, 0x1p-1060}, work[8];
  const struct systems given = {{0x1p-1060, 0x1p-1060}, {0, 0x1p-1060}, {0x1p-1023}, {0x1p-1060, 0x1p-1059}, {0}, {0}};
  static const float tiny = 0x1p-140f, tiny_factors[4] = {0x1p-140f, 0, 0, 0x1p-140f}, not_a_number = NAN;
  float unused[8];
  blas_int integers[2];
  memcpy(s, &given, sizeof(given));
  NAME(dtrtrs_)("L", "N", "N", &two, &one, lower, &two, s->triangle, &two, &s->info[0]);
  NAME(ztrtrs_)("L", "N", "N", &one, &one, imaginary, &one, s->complex, &one, &s->info[1]);
  NAME(dtrtri_)("L", "N", &one, s->inverse, &one, &s->info[2]);
  NAME(dgels_)("N", &two, &two, &one, diagonal, &two, s->squares, &two, work, &length, &s->info[3]);
  NAME(sgecon_)("1", &two, tiny_factors, &two, &tiny, &s->conditions[0], unused, integers, &s->info[4]);
  NAME(sgecon_)("1", &two, tiny_factors, &two, &not_a_number, &s->conditions[1], unused, integers, &s->info[5]);
}

static void check_systems(const struct systems* s, const char* state) {
  const int triangle = s->info[0] != 0 || memcmp(s->triangle, right.triangle, sizeof(right.triangle)) != 0;
  const int complex = s->info[1] != 0 || s->complex[0] != 1 || s->complex[1] != 0;
  const int inverse = s->info[2] != 0 || s->inverse[0] != right.inverse[0];
  const int squares = s->info[3] != 0 || memcmp(s->squares, right.squares, sizeof(right.squares)) != 0;
  const int condition = s->info[4] != 0 || s->conditions[0] != 1 || s->info[5] != -5 || !isnan(s->conditions[1]);
  if (triangle + complex + inverse + squares + condition == 0) return;
  fprintf(stderr, "wrong under %s: dtrtrs_ %d, ztrtrs_ %d, dtrtri_ %d, dgels_ %d, sgecon_ %d\n", state, triangle,
          complex, inverse, squares, condition);
  ++failures;
}

static void expect(const char* what, const char* state, int wrong) {
  if (wrong == 0) return;
  fprintf(stderr, "%s: %d of %d elements are wrong under %s\n", what, wrong, n * n, state);
  ++failures;
}

/* Checks sums of whole numbers times 2^-149, whose bits are the whole numbers, times 2^-148 and times 2^-40. */
static void check(const struct results* r, const char* state) {
  int by_columns = 0, by_rows = 0, scaled = 0, inexact = 0, complex = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      int32_t sum = 0, squares = 0;
      for (int p = 0; p < n; ++p) {
        sum += ((i * n + p) % 13 + 1) * ((j * n + p) % 7 + 1);
        squares += ((i * n + p) % 13 + 1) * ((j * n + p) % 13 + 1);
      }
      const float normal = (float)squares * 0x1p-40f, nothing = 0;
      const int32_t twice = 2 * squares;
      const int at = i * n + j;
      by_columns += memcmp(&r->by_columns[at], &sum, sizeof(sum)) != 0;
      by_rows += memcmp(&r->by_rows[at], &sum, sizeof(sum)) != 0;
      scaled += memcmp(&r->scaled[at], &normal, sizeof(normal)) != 0;
      inexact += memcmp(&r->inexact[at], &found[states - 1].inexact[at], sizeof(float)) != 0;
      complex += memcmp(&r->complex[2 * at], &twice, sizeof(twice)) != 0 ||
                 memcmp(&r->complex[2 * at + 1], &nothing, sizeof(nothing)) != 0;
    }
  expect("sgemm_", state, by_columns);
  expect("cblas_sgemm", state, by_rows);
  expect("cblas_sgemm with a subnormal alpha", state, scaled);
  expect("cblas_sgemm, inexact", state, inexact);
  expect("cblas_cgemm", state, complex);
}

int main(void) {
  for (int i = 0; i < n * n; ++i) {
    small[i] = (float)(i % 13 + 1) * 0x1p-74f;
    smaller[i] = (float)(i % 7 + 1) * 0x1p-75f;
    large[i] = (float)(i % 13 + 1) * 0x1p50f;
    thirds[i] = (float)(i % 11 + 1) / 3;
    complex_small[2 * i] = (float)(i % 13 + 1) * 0x1p-74f;
  }
  for (int state = 0; state < states; ++state) {
    set_state(control[state]);
    const unsigned before = get_state();
    compute(&found[state]);
    solve(&solved[state]);
    const unsigned after = get_state();
    set_state(control[states - 1]);
    if (after == before) continue;
    fprintf(stderr, "the state was %#x before the calls and is %#x afterwards\n", before, after);
    ++failures;
  }
  for (int state = 0; state < states; ++state) {
    check(&found[state], names[state]);
    check_systems(&solved[state], names[state]);
  }
  return failures;
}
