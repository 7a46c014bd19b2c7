/* Every entry of the C interface that takes sizes, leading dimensions, strides or counts refuses wrong ones: the
 * message names the argument and its value, and nothing is written. The exit status says whether a check failed. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include <tessera/tessera.h>

static int failures = 0;

enum { SIZE = 64 };
static float a[SIZE], b[SIZE], c[SIZE], before[SIZE];

static void expect(const char* entry, tessera_status status, const char* part) {
  int written = 0;
  for (int i = 0; i < SIZE; ++i) written += c[i] != 7;
  if (status == TESSERA_INVALID_ARGUMENT && strstr(tessera_last_error(), part) != NULL && written == 0) return;
  fprintf(stderr, "%s: status %d, %d elements written, '%s' lacks '%s'\n", entry, (int)status, written,
          tessera_last_error(), part);
  ++failures;
}

static void require(const char* entry, int condition) {
  if (condition) return;
  fprintf(stderr, "%s: %s\n", entry, tessera_last_error());
  ++failures;
}

/* The sizes of a product, of which one is wrong, and what the message has. */
typedef struct {
  int64_t m, n, k, lda, ldb, ldc;
  const char* part;
} Sizes;

static const Sizes wrong_sizes[] = {
    {-1, 2, 2, 2, 2, 2, "m = -1"},
    {2, -2, 2, 2, 2, 2, "n = -2"},
    {2, 2, -3, 2, 2, 2, "k = -3"},
    {INT64_MIN, 2, 2, 2, 2, 2, "m = -9223372036854775808"},
    {2, 2, 2, 1, 2, 2, "lda = 1"},
    {2, 2, 2, 2, 0, 2, "ldb = 0"},
    {2, 2, 2, 2, 2, -5, "ldc = -5"},
    {2, 2, 2, INT64_MAX, 2, 2, "lda = 9223372036854775807"},
    {2, 2, 2, 2, INT64_MAX, 2, "ldb = 9223372036854775807"},
    {2, 2, 2, 2, 2, INT64_MAX, "ldc = 9223372036854775807"},
    {INT64_MAX / 2, 2, 2, 2, 2, 2, "a is too large: 4611686018427387903 rows"},
    {2, INT64_MAX / 2, 2, 2, INT64_MAX / 2, INT64_MAX / 2, "ldb = 4611686018427387903"},
    {2, 2, INT64_MAX / 2, INT64_MAX / 2, 2, 2, "lda = 4611686018427387903"},
};
enum { WRONG_SIZES = sizeof wrong_sizes / sizeof *wrong_sizes };

static tessera_gemm_group group_of(const Sizes* x) {
  tessera_gemm_group group;
  memset(&group, 0, sizeof group);
  group.m = x->m;
  group.n = x->n;
  group.k = x->k;
  group.alpha = 1;
  group.a = a;
  group.lda = x->lda;
  group.b = b;
  group.ldb = x->ldb;
  group.c = c;
  group.ldc = x->ldc;
  group.count = 1;
  return group;
}

static void products(void) {
  const tessera_op none = TESSERA_NONE;
  const float one[2] = {1, 0}, zero[2] = {0, 0};
  const double ones[2] = {1, 0}, zeros[2] = {0, 0};
  const double *const x = (const double*)a, *const y = (const double*)b;
  double* const z = (double*)c;
  tessera_executor* executor = NULL;
  require("tessera_get_executor", tessera_get_executor(TESSERA_REFERENCE, &executor) == TESSERA_OK);
  for (int i = 0; i < WRONG_SIZES; ++i) {
    const Sizes* s = &wrong_sizes[i];
    expect("tessera_gemm_f32",
           tessera_gemm_f32(none, none, s->m, s->n, s->k, 1, a, s->lda, b, s->ldb, 0, c, s->ldc, NULL), s->part);
    expect("tessera_gemm_f64",
           tessera_gemm_f64(none, none, s->m, s->n, s->k, 1, x, s->lda, y, s->ldb, 0, z, s->ldc, NULL), s->part);
    expect("tessera_gemm_complex_f32",
           tessera_gemm_complex_f32(none, none, s->m, s->n, s->k, one, a, s->lda, b, s->ldb, zero, c, s->ldc, NULL),
           s->part);
    expect("tessera_gemm_complex_f64",
           tessera_gemm_complex_f64(none, none, s->m, s->n, s->k, ones, a, s->lda, b, s->ldb, zeros, c, s->ldc, NULL),
           s->part);
    for (int type = TESSERA_F32; type <= TESSERA_BFLOAT16; ++type) {
      expect(
          "tessera_gemm",
          tessera_gemm((tessera_dtype)type, none, none, s->m, s->n, s->k, 1, a, s->lda, b, s->ldb, 0, c, s->ldc, NULL),
          s->part);
      expect("tessera_executor_gemm",
             tessera_executor_gemm(executor, (tessera_dtype)type, none, none, s->m, s->n, s->k, 1, a, s->lda, b, s->ldb,
                                   0, c, s->ldc, NULL),
             s->part);
      const tessera_gemm_group group = group_of(s);
      expect("tessera_gemm_batch", tessera_gemm_batch((tessera_dtype)type, &group, 1, NULL), s->part);
      expect("tessera_executor_gemm_batch", tessera_executor_gemm_batch(executor, (tessera_dtype)type, &group, 1, NULL),
             s->part);
    }
    expect("tessera_executor_gemm_complex",
           tessera_executor_gemm_complex(executor, TESSERA_F32, none, none, s->m, s->n, s->k, one, a, s->lda, b, s->ldb,
                                         zero, c, s->ldc, NULL),
           s->part);
    expect("tessera_gemm_strided_batch_f32",
           tessera_gemm_strided_batch_f32(none, none, s->m, s->n, s->k, 1, a, s->lda, 0, b, s->ldb, 0, 0, c, s->ldc, 4,
                                          2, NULL),
           s->part);
    expect("tessera_gemm_strided_batch_f64",
           tessera_gemm_strided_batch_f64(none, none, s->m, s->n, s->k, 1, x, s->lda, 0, y, s->ldb, 0, 0, z, s->ldc, 4,
                                          2, NULL),
           s->part);
  }
}

/* The strides and the count of a batch, of which one is wrong. */
typedef struct {
  int64_t stride_a, stride_b, stride_c, count;
  const char* part;
} Steps;

static const Steps wrong_steps[] = {
    {0, 0, 4, -1, "count = -1"},
    {0, 0, 4, INT64_MIN, "count = -9223372036854775808"},
    {0, 0, 4, INT64_MAX, "count = 9223372036854775807"},
    {0, 0, 4, ((int64_t)1 << 62) + 1, "count = 4611686018427387905"},
    {0, 0, 4, ((int64_t)1 << 56) + 1, "count = 72057594037927937"},
    {0, 0, 1024, (int64_t)1 << 56, "72057594037927936 products"},
    {INT64_MAX, 0, 4, 2, "stride_a = 9223372036854775807"},
    {INT64_MIN, 0, 4, 2, "stride_a = -9223372036854775808"},
    {0, INT64_MAX / 4, 4, 2, "stride_b = 2305843009213693951"},
    {0, INT64_MIN / 2, 4, 2, "stride_b = -4611686018427387904"},
    {0, 0, INT64_MAX, 2, "stride_c = 9223372036854775807"},
    {0, 0, INT64_MIN, 2, "stride_c = -9223372036854775808"},
    {-((int64_t)1 << 58), 0, 4, 2, "stride_a = -288230376151711744"}, /* before the begin of the address space */
    {0, -((int64_t)1 << 58), 4, 2, "stride_b = -288230376151711744"},
    {0, 0, -((int64_t)1 << 58), 2, "stride_c = -288230376151711744"},
    {(int64_t)1 << 40, 0, 4, (int64_t)1 << 30, "stride_a = 1099511627776"},
};
enum { WRONG_STEPS = sizeof wrong_steps / sizeof *wrong_steps };

static void batches(void) {
  const tessera_op none = TESSERA_NONE;
  const Sizes right = {2, 2, 2, 2, 2, 2, ""};
  tessera_executor* executor = NULL;
  require("tessera_get_executor", tessera_get_executor(TESSERA_REFERENCE, &executor) == TESSERA_OK);
  for (int i = 0; i < WRONG_STEPS; ++i) {
    const Steps* s = &wrong_steps[i];
    expect("tessera_gemm_strided_batch_f32",
           tessera_gemm_strided_batch_f32(none, none, 2, 2, 2, 1, a, 2, s->stride_a, b, 2, s->stride_b, 0, c, 2,
                                          s->stride_c, s->count, NULL),
           s->part);
    expect("tessera_gemm_strided_batch_f64",
           tessera_gemm_strided_batch_f64(none, none, 2, 2, 2, 1, (const double*)a, 2, s->stride_a, (const double*)b, 2,
                                          s->stride_b, 0, (double*)c, 2, s->stride_c, s->count, NULL),
           s->part);
    tessera_gemm_group groups[2] = {group_of(&right), group_of(&right)};
    groups[1].c = c + 32;
    groups[1].stride_a = s->stride_a;
    groups[1].stride_b = s->stride_b;
    groups[1].stride_c = s->stride_c;
    groups[1].count = s->count;
    expect("tessera_gemm_batch", tessera_gemm_batch(TESSERA_F32, groups, 2, NULL), s->part);
    expect("tessera_executor_gemm_batch", tessera_executor_gemm_batch(executor, TESSERA_F32, groups, 2, NULL), s->part);
  }
}

/* Results of one call that share elements: in a group with strides, in a list, and of two groups. */
static void shared_results(void) {
  const tessera_op none = TESSERA_NONE;
  const Sizes right = {2, 2, 2, 2, 2, 2, ""};
  const void* all_a[3] = {a, a, a};
  const void* all_b[3] = {b, b, b};
  void* all_c[3] = {c, c + 8, c + 2};
  expect("tessera_gemm_strided_batch_f32",
         tessera_gemm_strided_batch_f32(none, none, 2, 2, 2, 1, a, 2, 0, b, 2, 0, 0, c, 2, 3, 3, NULL), "stride_c = 3");
  tessera_gemm_group groups[2] = {group_of(&right), group_of(&right)};
  groups[0].count = 3;
  groups[0].all_a = all_a;
  groups[0].all_b = all_b;
  groups[0].all_c = all_c;
  expect("tessera_gemm_batch", tessera_gemm_batch(TESSERA_F32, groups, 1, NULL), "c[0] and c[2] overlap in memory");
  groups[1].c = c + 11;
  all_c[2] = c + 4;
  expect("tessera_gemm_batch", tessera_gemm_batch(TESSERA_F32, groups, 2, NULL),
         "the results of product 1 of group 0 and product 0 of group 1 overlap");
  for (int i = 0; i < 3; ++i) all_c[i] = c + 2 * i; /* blocks of columns */
  groups[0].ldc = 8;
  groups[1].c = c + 6;
  groups[1].ldc = 8;
  require("tessera_gemm_batch", tessera_gemm_batch(TESSERA_F32, groups, 2, NULL) == TESSERA_OK);
  for (int i = 0; i < SIZE; ++i) c[i] = 7;
}

static tessera_status check(const Sizes* s, const tessera_check_options* options, tessera_certificate* answer) {
  return tessera_check(TESSERA_CHECKED_F32, TESSERA_CHECKED_F32, TESSERA_CHECKED_F32, TESSERA_NONE, TESSERA_NONE, s->m,
                       s->n, s->k, a, s->lda, b, s->ldb, c, s->ldc, options, answer);
}

/* Returns the most bytes of memory that the process has had, in kilobytes. */
static long memory(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

static void checks(void) {
  static const Sizes wrong[] = {
      {-1, 2, 2, 2, 2, 2, "-1×2"},
      {2, -2, 2, 2, 2, 2, "2×-2"},
      {2, 2, -3, 2, 2, 2, "2×-3"},
      {2, 2, 2, 1, 2, 2, "a has ld = 1"},
      {2, 2, 2, 2, 0, 2, "b has ld = 0"},
      {2, 2, 2, 2, 2, -5, "c has ld = -5"},
      {2, 2, 2, INT64_MAX, 2, 2, "ld = 9223372036854775807"},
      {2, 2, 2, 2, 2, INT64_MAX / 4, "ld = 2305843009213693951"},
  };
  const Sizes right = {2, 2, 2, 2, 2, 2, ""};
  tessera_certificate answer;
  memset(&answer, 1, sizeof answer);
  answer.size = sizeof answer;
  const tessera_certificate kept = answer;
  tessera_check_options options = tessera_default_check_options();
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i)
    for (options.count = 1; options.count <= 2; ++options.count)
      expect("tessera_check", check(&wrong[i], &options, &answer), wrong[i].part);
  const long used = memory();
  for (int i = 0; i < WRONG_STEPS; ++i) {
    const Steps* s = &wrong_steps[i];
    options = tessera_default_check_options();
    options.stride_a = s->stride_a;
    options.stride_b = s->stride_b;
    options.stride_c = s->stride_c;
    options.count = s->count;
    expect("tessera_check", check(&right, &options, &answer), s->part);
    options.stride_a = options.stride_b = 0;
    options.stride_c = 4;
    options.beta = 1;
    options.c_before = before;
    options.ld_c_before = 2;
    options.stride_c_before = s->stride_c;
    if (strstr(s->part, "stride_c") != NULL)
      expect("tessera_check", check(&right, &options, &answer), "stride_c_before = ");
    tessera_epilogue epilogue = tessera_default_epilogue();
    epilogue.residual = before;
    epilogue.ld_residual = 2;
    options.stride_c_before = 0;
    options.epilogue = &epilogue;
    options.stride_residual = s->stride_c;
    if (strstr(s->part, "stride_c") != NULL)
      expect("tessera_check", check(&right, &options, &answer), "stride_residual = ");
  }
  options = tessera_default_check_options();
  options.count = (int64_t)1 << 50; /* all products are the same one: the address space has room, memory has not */
  if (check(&right, &options, &answer) != TESSERA_OUT_OF_MEMORY) ++failures;
  if (memory() > used + 100000) {
    fprintf(stderr, "tessera_check: refusals took %ld kB\n", memory() - used);
    ++failures;
  }
  options = tessera_default_check_options();
  tessera_epilogue epilogue = tessera_default_epilogue();
  options.epilogue = &epilogue;
  epilogue.bias_per = TESSERA_BIAS_PER_ROW;
  epilogue.bias = before;
  epilogue.bias_step = 0;
  expect("tessera_check", check(&right, &options, &answer), "bias_step = 0");
  epilogue.bias_step = INT64_MAX;
  expect("tessera_check", check(&right, &options, &answer), "ld = 9223372036854775807");
  options = tessera_default_check_options();
  options.rows = -1;
  expect("tessera_check", check(&right, &options, &answer), "rows = -1");
  options.rows = 0;
  options.vectors = -2;
  expect("tessera_check", check(&right, &options, &answer), "vectors = -2");
  options.vectors = 0;
  options.threads = -1;
  expect("tessera_check", check(&right, &options, &answer), "threads = -1");
  if (memcmp(&answer, &kept, sizeof answer) != 0) {
    fprintf(stderr, "tessera_check: a refusal changed the certificate\n");
    ++failures;
  }
}

int main(void) {
  for (int i = 0; i < SIZE; ++i) {
    a[i] = b[i] = 1;
    c[i] = 7;
  }
  products();
  batches();
  shared_results();
  checks();
  return failures != 0;
}
