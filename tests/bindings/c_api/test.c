/* Tests of the C interface, compiled as C99: values, errors, an executor's memory. The exit status says whether a check
 * failed. */
#include <complex.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

#include <tessera/tessera.h>

static int failures = 0;

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                               \
    }                                                                           \
  } while (0)

static void expect(tessera_status status, tessera_status expected, const char* part) {
  if (status == expected && strstr(tessera_last_error(), part) != NULL) return;
  fprintf(stderr, "status %d, not %d, or '%s' lacks '%s'\n", (int)status, (int)expected, tessera_last_error(), part);
  ++failures;
}

static void values(void) {
  const float a[6] = {1, 2, 99, 3, 4, 99}; /* 2×2, ld 3 */
  const float b[4] = {5, 6, 7, 8};
  float c[4] = {1, 1, 1, 1};
  CHECK(tessera_gemm_f32(TESSERA_TRANSPOSE, TESSERA_NONE, 2, 2, 2, 1, a, 3, b, 2, 0, c, 2, NULL) == TESSERA_OK);
  CHECK(c[0] == 26 && c[1] == 30 && c[2] == 38 && c[3] == 44);
  double d[4] = {1, NAN, 1, 1};
  const double e[4] = {1, 2, 3, 4};
  tessera_options options = tessera_default_options();
  options.backend = TESSERA_REFERENCE;
  CHECK(tessera_gemm_f64(TESSERA_NONE, TESSERA_TRANSPOSE, 2, 2, 2, 2, e, 2, e, 2, 0, d, 2, &options) == TESSERA_OK);
  CHECK(d[0] == 10 && d[1] == 22 && d[2] == 22 && d[3] == 50);
  CHECK(tessera_gemm_f64(TESSERA_NONE, TESSERA_NONE, 0, 2, 2, 2, NULL, 2, e, 2, 0, NULL, 2, &options) == TESSERA_OK);
}

static void certificates(void) {
  const float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
  float c[8] = {19, 22, 43, 50, 19, 22, 43, 50};
  tessera_certificate answer;
  answer.size = sizeof answer;
  CHECK(tessera_check(TESSERA_CHECKED_F32, TESSERA_CHECKED_F32, TESSERA_CHECKED_F32, TESSERA_NONE, TESSERA_NONE, 2, 2,
                      2, a, 2, b, 2, c, 2, NULL, &answer) == TESSERA_OK);
  CHECK(answer.verdict == TESSERA_RIGHT && answer.rows == 2 && answer.rows_compared == 2 && answer.worst_product == -1);
  tessera_check_options options = tessera_default_check_options();
  options.count = 2;
  options.stride_c = 4;
  c[6] = 44;
  CHECK(tessera_check(TESSERA_CHECKED_F32, TESSERA_CHECKED_F32, TESSERA_CHECKED_F32, TESSERA_NONE, TESSERA_NONE, 2, 2,
                      2, a, 2, b, 2, c, 2, &options, &answer) == TESSERA_OK);
  CHECK(answer.verdict == TESSERA_WRONG && answer.elements_beyond == 1);
  CHECK(answer.worst_product == 1 && answer.worst_row == 1 && answer.worst_col == 0);
  CHECK(answer.computed == 44 && answer.exact == 43 && answer.bound < 1e-4 && strstr(answer.text, "c(1, 0)") != NULL);
  const void *const all_a[2] = {a, b}, *const all_b[2] = {b, a};
  float ab[4] = {19, 22, 43, 50}, ba[4] = {23, 34, 31, 46};
  const void* const all_c[2] = {ab, ba};
  options.all_a = all_a;
  options.all_b = all_b;
  options.all_c = all_c;
  CHECK(tessera_check(TESSERA_CHECKED_F32, TESSERA_CHECKED_F32, TESSERA_CHECKED_F32, TESSERA_NONE, TESSERA_NONE, 2, 2,
                      2, NULL, 2, NULL, 2, NULL, 2, &options, &answer) == TESSERA_OK);
  CHECK(answer.verdict == TESSERA_RIGHT && answer.rows == 4);
  const float bias[2] = {10, 20}, with_bias[4] = {0, 2, 0, 30}, before[4] = {1, 1, 1, 1};
  tessera_epilogue epilogue = tessera_default_epilogue();
  epilogue.bias_per = TESSERA_BIAS_PER_COLUMN;
  epilogue.bias = bias;
  epilogue.activation = TESSERA_RELU;
  options = tessera_default_check_options();
  options.alpha = -1;
  options.beta = 4;
  options.c_before = before;
  options.ld_c_before = 2;
  options.epilogue = &epilogue;
  CHECK(tessera_check(TESSERA_CHECKED_F32, TESSERA_CHECKED_F32, TESSERA_CHECKED_F32, TESSERA_NONE, TESSERA_NONE, 2, 2,
                      2, a, 2, b, 2, with_bias, 2, &options, &answer) == TESSERA_OK);
  CHECK(answer.verdict == TESSERA_WRONG && answer.worst_row == 1 && answer.worst_col == 1); /* 20 + 4 - 50 < 0 */
  const int8_t x[2] = {-128, 127}, y[2] = {127, -128};
  const int32_t dot = -2 * 128 * 127;
  CHECK(tessera_check(TESSERA_CHECKED_I8, TESSERA_CHECKED_I8, TESSERA_CHECKED_I32, TESSERA_NONE, TESSERA_TRANSPOSE, 1,
                      1, 2, x, 2, y, 2, &dot, 1, NULL, &answer) == TESSERA_OK);
  CHECK(answer.verdict == TESSERA_RIGHT && answer.blind_products == 0);

  enum { long_sum = 300001 };
  static float signs[long_sum], ones[long_sum];
  for (int i = 0; i < long_sum; ++i) {
    signs[i] = i % 2 == 0 ? 1 : -1;
    ones[i] = 1;
  }
  const float sum_of_signs = 1;
  for (int k = 1; k <= long_sum; k += long_sum - 1) { /* for the long sum a C of zeros would pass, too */
    CHECK(tessera_check(TESSERA_CHECKED_F32, TESSERA_CHECKED_F32, TESSERA_CHECKED_F32, TESSERA_NONE, TESSERA_NONE, 1, 1,
                        k, signs, k, ones, 1, &sum_of_signs, 1, NULL, &answer) == TESSERA_OK);
    CHECK(answer.verdict == TESSERA_RIGHT && answer.blind_products == (k > 1));
    CHECK((strstr(answer.text, "a zero C would pass") != NULL) == (k > 1));
  }

  expect(tessera_check(TESSERA_CHECKED_I8, TESSERA_CHECKED_F32, TESSERA_CHECKED_F32, TESSERA_NONE, TESSERA_NONE, 2, 2,
                       2, a, 2, b, 2, c, 2, NULL, &answer),
         TESSERA_INVALID_ARGUMENT, "a holds i8, b holds f32");
  expect(tessera_check(TESSERA_CHECKED_F32, TESSERA_CHECKED_F32, TESSERA_CHECKED_F32, TESSERA_NONE, TESSERA_NONE, 2, 2,
                       2, a, 1, b, 2, c, 2, NULL, &answer),
         TESSERA_INVALID_ARGUMENT, "a has ld = 1");
  expect(tessera_check(TESSERA_CHECKED_F32, TESSERA_CHECKED_F32, TESSERA_CHECKED_F32, TESSERA_NONE, TESSERA_NONE, 2, 2,
                       2, a, 2, b, 2, c, 2, NULL, NULL),
         TESSERA_INVALID_ARGUMENT, "certificate is null");
  options.size = 3;
  expect(tessera_check(TESSERA_CHECKED_F32, TESSERA_CHECKED_F32, TESSERA_CHECKED_F32, TESSERA_NONE, TESSERA_NONE, 2, 2,
                       2, a, 2, b, 2, c, 2, &options, &answer),
         TESSERA_INVALID_ARGUMENT, "options.size = 3");
  options = tessera_default_check_options();
  options.count = -1;
  expect(tessera_check(TESSERA_CHECKED_F32, TESSERA_CHECKED_F32, TESSERA_CHECKED_F32, TESSERA_NONE, TESSERA_NONE, 2, 2,
                       2, a, 2, b, 2, c, 2, &options, &answer),
         TESSERA_INVALID_ARGUMENT, "count = -1");
  answer.size = 8;
  expect(tessera_check(TESSERA_CHECKED_F32, TESSERA_CHECKED_F32, TESSERA_CHECKED_F32, TESSERA_NONE, TESSERA_NONE, 2, 2,
                       2, a, 2, b, 2, c, 2, NULL, &answer),
         TESSERA_INVALID_ARGUMENT, "certificate.size = 8");
}

static void verified_products(void) {
  const float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
  float c[4] = {0};
  tessera_options options = tessera_default_options();
  options.verification = TESSERA_VERIFY_DETECT;
  CHECK(tessera_gemm_f32(TESSERA_NONE, TESSERA_NONE, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2, &options) == TESSERA_OK);
  CHECK(c[0] == 19 && c[3] == 50);
  CHECK(tessera_gemm_strided_batch_f32(TESSERA_NONE, TESSERA_NONE, 2, 2, 2, 1, a, 2, 0, b, 2, 0, 0, c, 2, 4, 1,
                                       &options) == TESSERA_OK);
  uint64_t products = 0, wrong = 1;
  tessera_verify_counts(&products, &wrong, NULL);
  CHECK(products == 2 && wrong == 0);
  tessera_health_report report = {.size = sizeof report};
  CHECK(tessera_health(0, &report) == TESSERA_OK);
  CHECK(report.sound == 1 && report.core == -1 && report.findings == 0 && report.rounds == 1 && report.runs > 0);
  CHECK(strstr(report.text, "sound: ") != NULL);
  expect(tessera_health(-1, &report), TESSERA_INVALID_ARGUMENT, "seconds = -1");
  expect(tessera_health(0, NULL), TESSERA_INVALID_ARGUMENT, "report is null");
  report.size = 3;
  expect(tessera_health(0, &report), TESSERA_INVALID_ARGUMENT, "report.size = 3");
  options.verification = (tessera_verify)3;
  expect(tessera_gemm_f32(TESSERA_NONE, TESSERA_NONE, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2, &options),
         TESSERA_INVALID_ARGUMENT, "options.verification = 3 is none of 0");
}

static void complex_values(void) {
  const float complex a[4] = {1, 2 * I, 3 + I, 4}, b[2] = {1 - I, 2};
  const float complex one = 1, turn = 2 * I, none = 0;
  float complex c[2] = {NAN, NAN};
  CHECK(tessera_gemm_complex_f32(TESSERA_CONJUGATE_TRANSPOSE, TESSERA_NONE, 2, 1, 2, &one, a, 2, b, 1, &none, c, 1,
                                 NULL) == TESSERA_OK);
  CHECK(c[0] == 7 - 3 * I && c[1] == 6 - 2 * I);
  CHECK(tessera_gemm_complex_f32(TESSERA_NONE, TESSERA_TRANSPOSE, 2, 1, 2, &one, a, 2, b, 2, &turn, c, 1, NULL) ==
        TESSERA_OK);
  CHECK(c[0] == 7 + 17 * I && c[1] == 16 + 10 * I);
  const double complex e = 3 - I, two = 2, nothing = 0;
  double complex d = NAN;
  tessera_options options = tessera_default_options();
  options.backend = TESSERA_REFERENCE;
  CHECK(tessera_gemm_complex_f64(TESSERA_NONE, TESSERA_CONJUGATE_TRANSPOSE, 1, 1, 1, &two, &e, 1, &e, 1, &nothing, &d,
                                 1, &options) == TESSERA_OK);
  CHECK(d == 20);
  expect(tessera_gemm_complex_f64(TESSERA_NONE, TESSERA_NONE, 1, 1, 1, NULL, &e, 1, &e, 1, &nothing, &d, 1, NULL),
         TESSERA_INVALID_ARGUMENT, "alpha is null");
  expect(tessera_gemm_complex_f64(TESSERA_NONE, (tessera_op)3, 1, 1, 1, &two, &e, 1, &e, 1, &nothing, &d, 1, NULL),
         TESSERA_INVALID_ARGUMENT, "op_b = 3");
  expect(tessera_gemm_complex_f64(TESSERA_NONE, TESSERA_NONE, 1, 2, 1, &two, &e, 1, &e, 1, &nothing, &d, 2, NULL),
         TESSERA_INVALID_ARGUMENT, "ldb = 1");
  const float f[1] = {1};
  float g[1] = {7};
  expect(tessera_gemm_f32(TESSERA_CONJUGATE_TRANSPOSE, TESSERA_NONE, 1, 1, 1, 1, f, 1, f, 1, 0, g, 1, NULL),
         TESSERA_INVALID_ARGUMENT, "op_a = 2");
  CHECK(d == 20 && g[0] == 7);
}

/* Computes a layer of a network on every backend: 16-bit operands, f32 result, bias, ReLU, residual. */
static void types_and_epilogues(void) {
  const uint16_t a[4] = {0x3f80, 0x4000, 0x4040, 0x4080}; /* bf16: 1 2 3 4 */
  const float bias[2] = {10, -100}, residual[4] = {0.5f, 0.5f, 0.5f, 0.5f};
  const float wide[4] = {1, 2, 3, 4};
  for (int backend = TESSERA_REFERENCE; backend <= TESSERA_OPENCL; ++backend) {
    if (tessera_backend_available((tessera_backend)backend) != TESSERA_OK) continue;
    tessera_epilogue epilogue = tessera_default_epilogue();
    tessera_options options = tessera_default_options();
    options.backend = (tessera_backend)backend;
    options.result = TESSERA_F32;
    options.epilogue = &epilogue;
    epilogue.bias_per = TESSERA_BIAS_PER_COLUMN;
    epilogue.bias = bias;
    epilogue.activation = TESSERA_RELU;
    epilogue.residual = residual;
    epilogue.ld_residual = 2;
    float c[4] = {7, 7, 7, 7};
    CHECK(tessera_gemm(TESSERA_BFLOAT16, TESSERA_NONE, TESSERA_NONE, 2, 2, 2, 1, a, 2, a, 2, 0, c, 2, &options) ==
          TESSERA_OK);
    CHECK(c[0] == 17.5f && c[1] == 0.5f && c[2] == 25.5f && c[3] == 0.5f);

    options.result = TESSERA_BFLOAT16;
    options.epilogue = NULL;
    uint16_t narrow[4] = {7, 7, 7, 7};
    CHECK(tessera_gemm(TESSERA_F32, TESSERA_NONE, TESSERA_NONE, 2, 2, 2, 1, wide, 2, wide, 2, 0, narrow, 2, &options) ==
          TESSERA_OK);
    CHECK(narrow[0] == 0x40e0 && narrow[1] == 0x4120 && narrow[2] == 0x4170 && narrow[3] == 0x41b0);

    expect(tessera_gemm_f32(TESSERA_NONE, TESSERA_NONE, 2, 2, 2, 1, wide, 2, wide, 2, 0, c, 2, &options),
           TESSERA_INVALID_ARGUMENT, "options.result = bf16");
    options.result = (tessera_dtype)7;
    expect(tessera_gemm(TESSERA_F32, TESSERA_NONE, TESSERA_NONE, 2, 2, 2, 1, wide, 2, wide, 2, 0, c, 2, &options),
           TESSERA_INVALID_ARGUMENT, "options.result = 7");
    options.result = TESSERA_AS_OPERANDS;
    options.epilogue = &epilogue;
    epilogue.bias = NULL;
    expect(tessera_gemm(TESSERA_F32, TESSERA_NONE, TESSERA_NONE, 2, 2, 2, 1, wide, 2, wide, 2, 0, c, 2, &options),
           TESSERA_INVALID_ARGUMENT, "bias is null");
    epilogue.size = 3;
    expect(tessera_gemm(TESSERA_F32, TESSERA_NONE, TESSERA_NONE, 2, 2, 2, 1, wide, 2, wide, 2, 0, c, 2, &options),
           TESSERA_INVALID_ARGUMENT, "epilogue.size = 3");
    CHECK(c[0] == 17.5f && c[1] == 0.5f && c[2] == 25.5f && c[3] == 0.5f);
  }
}

static void errors(void) {
  float a[4] = {1, 2, 3, 4}, c[4] = {7, 7, 7, 7};
  const tessera_op none = TESSERA_NONE;
  tessera_options options = tessera_default_options();
  expect(tessera_gemm_f32(none, none, 2, 2, 2, 1, a, 1, a, 2, 0, c, 2, NULL), TESSERA_INVALID_ARGUMENT, "lda = 1");
  expect(tessera_gemm_f32(none, none, -1, 2, 2, 1, a, 2, a, 2, 0, c, 2, NULL), TESSERA_INVALID_ARGUMENT, "-1");
  expect(tessera_gemm_f32(none, none, 2, 2, 2, 1, NULL, 2, a, 2, 0, c, 2, NULL), TESSERA_INVALID_ARGUMENT, "a is null");
  expect(tessera_gemm_f32(none, none, 2, 2, 2, 1, a, 2, a, 2, 0, a, 2, NULL), TESSERA_INVALID_ARGUMENT, "overlaps");
  expect(tessera_gemm_f32((tessera_op)5, none, 2, 2, 2, 1, a, 2, a, 2, 0, c, 2, NULL), TESSERA_INVALID_ARGUMENT,
         "op_a = 5");
  options.backend = (tessera_backend)77;
  expect(tessera_gemm_f32(none, none, 2, 2, 2, 1, a, 2, a, 2, 0, c, 2, &options), TESSERA_INVALID_ARGUMENT,
         "backend = 77");
  expect(tessera_backend_available((tessera_backend)-1), TESSERA_INVALID_ARGUMENT, "backend = -1");
  options.backend = TESSERA_REFERENCE;
  options.kernel = "gild";
  expect(tessera_gemm_f32(none, none, 2, 2, 2, 1, a, 2, a, 2, 0, c, 2, &options), TESSERA_INVALID_ARGUMENT, "gold");
  options.kernel = NULL;
  options.math = TESSERA_COMPENSATED;
  expect(tessera_gemm_f32(none, none, 2, 2, 2, 1, a, 2, a, 2, 0, c, 2, &options), TESSERA_REJECTED, "compensated");
  options.math = TESSERA_STRICT;
  options.threads = -2;
  expect(tessera_gemm_f32(none, none, 2, 2, 2, 1, a, 2, a, 2, 0, c, 2, &options), TESSERA_INVALID_ARGUMENT, "-2");
  options.threads = 0;
  options.size = 3;
  expect(tessera_gemm_f32(none, none, 2, 2, 2, 1, a, 2, a, 2, 0, c, 2, &options), TESSERA_INVALID_ARGUMENT,
         "options.size = 3");
  expect(tessera_get_executor(TESSERA_REFERENCE, NULL), TESSERA_INVALID_ARGUMENT, "executor is null");
  CHECK(tessera_executor_backend(NULL) == TESSERA_AUTO && tessera_executor_device(NULL) == NULL);
  expect(tessera_synchronize(NULL), TESSERA_INVALID_ARGUMENT, "executor is null");
  for (int i = 0; i < 4; ++i) CHECK(c[i] == 7); /* nothing was written */
  CHECK(tessera_backend_name((tessera_backend)9) == NULL);
  CHECK(strcmp(tessera_backend_name(TESSERA_CUDA), "cuda") == 0);
  CHECK(strcmp(tessera_backend_name(TESSERA_OPENCL), "opencl") == 0);
  CHECK(strcmp(tessera_math_name(TESSERA_EMULATED_BF16X6), "emulated_bf16x6") == 0);
  CHECK(strcmp(tessera_math_name(TESSERA_SCALED_FP16), "scaled_fp16") == 0);
  CHECK(strcmp(tessera_math_name(TESSERA_INT8_UNITS), "int8_units") == 0);
  CHECK(tessera_math_name((tessera_math)-1) == NULL);
  CHECK(tessera_version()[0] != '\0');
}

/* Multiplies operands in the executor's memory, with pitches, on every backend that is available. */
static void executors(void) {
  for (int i = TESSERA_REFERENCE; i <= TESSERA_OPENCL; ++i) {
    tessera_executor* executor = NULL;
    if (tessera_get_executor((tessera_backend)i, &executor) != TESSERA_OK) {
      CHECK(executor == NULL && tessera_last_error()[0] != '\0');
      continue;
    }
    CHECK(tessera_executor_backend(executor) == (tessera_backend)i);
    CHECK(tessera_executor_device(executor)[0] != '\0');
    const double a[6] = {1, 2, -1, 3, 4, -1}; /* 2×2, ld 3 */
    double back[4] = {0, 0, 0, 0};
    void* device = NULL;
    void* result = NULL;
    CHECK(tessera_allocate(executor, sizeof(double) * 4, &device) == TESSERA_OK);
    CHECK(tessera_allocate(executor, sizeof(double) * 4, &result) == TESSERA_OK);
    CHECK(tessera_copy_in(executor, device, sizeof(double) * 2, a, sizeof(double) * 3, sizeof(double) * 2, 2) ==
          TESSERA_OK);
    CHECK(tessera_executor_gemm(executor, TESSERA_F64, TESSERA_NONE, TESSERA_NONE, 2, 2, 2, 1, device, 2, device, 2, 0,
                                result, 2, NULL) == TESSERA_OK);
    CHECK(tessera_synchronize(executor) == TESSERA_OK);
    CHECK(tessera_copy_out(executor, back, sizeof(double) * 2, result, sizeof(double) * 2, sizeof(double) * 2, 2) ==
          TESSERA_OK);
    CHECK(back[0] == 7 && back[1] == 10 && back[2] == 15 && back[3] == 22);
    const double half[2] = {0.5, 0}, turned[2] = {0, 1}; /* the same elements as one row of two complex numbers */
    CHECK(tessera_executor_gemm_complex(executor, TESSERA_F64, TESSERA_NONE, TESSERA_TRANSPOSE, 1, 1, 2, half, device,
                                        2, device, 2, turned, result, 2, NULL) == TESSERA_OK);
    CHECK(tessera_synchronize(executor) == TESSERA_OK);
    CHECK(tessera_copy_out(executor, back, sizeof(back), result, sizeof(back), sizeof(back), 1) == TESSERA_OK);
    CHECK(back[0] == -15 && back[1] == 21 && back[2] == 15 && back[3] == 22);
    expect(tessera_executor_gemm(executor, (tessera_dtype)9, TESSERA_NONE, TESSERA_NONE, 2, 2, 2, 1, device, 2, device,
                                 2, 0, result, 2, NULL),
           TESSERA_INVALID_ARGUMENT, "type = 9");
    void* too_much = &failures;
    expect(tessera_allocate(executor, (size_t)1 << 60, &too_much), TESSERA_OUT_OF_MEMORY, "");
    CHECK(too_much == NULL);
    tessera_free(executor, device);
    tessera_free(executor, result);
    tessera_free(executor, NULL);
  }
}

/* Refuses copies that would read or write what is not there. Nothing is copied then, and nothing for no bytes. */
static void copies(void) {
  double host[4] = {1, 2, 3, 4};
  for (int i = TESSERA_REFERENCE; i <= TESSERA_OPENCL; ++i) {
    tessera_executor* executor = NULL;
    if (tessera_get_executor((tessera_backend)i, &executor) != TESSERA_OK) continue;
    void* device = NULL;
    CHECK(tessera_allocate(executor, sizeof(host), &device) == TESSERA_OK);
    CHECK(tessera_copy_in(executor, device, 16, host, 16, 16, 2) == TESSERA_OK);
    const tessera_status wrong = TESSERA_INVALID_ARGUMENT;
    expect(tessera_copy_in(executor, NULL, 16, host, 16, 16, 2), wrong, "device is null");
    expect(tessera_copy_in(executor, device, 16, NULL, 16, 16, 2), wrong, "host is null");
    expect(tessera_copy_in(executor, device, 8, host, 16, 16, 2), wrong, "device_pitch = 8 is less than width = 16");
    expect(tessera_copy_in(executor, device, 16, host, 0, 16, 2), wrong, "host_pitch = 0 is less than width = 16");
    expect(tessera_copy_in(executor, device, 16, host, SIZE_MAX / 4, 16, 3), wrong, "3 rows of host_pitch = 4611686");
    expect(tessera_copy_out(executor, NULL, 16, device, 16, 16, 2), wrong, "host is null");
    expect(tessera_copy_out(executor, host, 16, NULL, 16, 16, 2), wrong, "device is null");
    expect(tessera_copy_out(executor, host, 15, device, 16, 16, 2), wrong, "host_pitch = 15 is less than width = 16");
    expect(tessera_copy_out(executor, host, 16, device, 8, 16, 2), wrong, "device_pitch = 8 is less than width = 16");
    CHECK(tessera_copy_in(executor, NULL, 0, NULL, 0, 0, SIZE_MAX) == TESSERA_OK);
    CHECK(tessera_copy_out(executor, NULL, 0, NULL, 0, SIZE_MAX, 0) == TESSERA_OK);
    host[0] = host[1] = host[2] = host[3] = 7;
    CHECK(tessera_copy_out(executor, host, 16, device, 16, 16, 2) == TESSERA_OK);
    CHECK(host[0] == 1 && host[1] == 2 && host[2] == 3 && host[3] == 4);
    tessera_free(executor, device);
  }
}

/* Computes three 2×2 products that share A: with strides, and with pointers in reverse order beside a group of another
 * shape. */
static void batches(void) {
  const float a[4] = {1, 2, 3, 4}, b[12] = {1, 0, 0, 1, 2, 0, 0, 2, 0, 1, 1, 0};
  const float expected[12] = {1, 2, 3, 4, 2, 4, 6, 8, 2, 1, 4, 3};
  float c[12] = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}, dot = 7;
  CHECK(tessera_gemm_strided_batch_f32(TESSERA_NONE, TESSERA_NONE, 2, 2, 2, 1, a, 2, 0, b, 2, 4, 0, c, 2, 4, 3, NULL) ==
        TESSERA_OK);
  CHECK(memcmp(c, expected, sizeof(c)) == 0);
  memset(c, 0, sizeof(c));
  const void* all_a[3] = {a, a, a};
  const void* all_b[3] = {b + 8, b + 4, b};
  void* all_c[3] = {c + 8, c + 4, c};
  tessera_gemm_group groups[2];
  memset(groups, 0, sizeof(groups));
  groups[0].m = groups[0].n = groups[0].k = groups[0].lda = groups[0].ldb = groups[0].ldc = 2;
  groups[0].alpha = 1;
  groups[0].count = 3;
  groups[0].all_a = all_a;
  groups[0].all_b = all_b;
  groups[0].all_c = all_c;
  groups[1].m = groups[1].n = groups[1].ldb = groups[1].ldc = groups[1].count = 1;
  groups[1].k = groups[1].lda = 4;
  groups[1].alpha = 2;
  groups[1].a = a;
  groups[1].b = b + 4;
  groups[1].c = &dot;
  CHECK(tessera_gemm_batch(TESSERA_F32, groups, 2, NULL) == TESSERA_OK);
  CHECK(memcmp(c, expected, sizeof(c)) == 0 && dot == 20);
  tessera_executor* reference = NULL;
  CHECK(tessera_get_executor(TESSERA_REFERENCE, &reference) == TESSERA_OK);
  dot = 7;
  CHECK(tessera_executor_gemm_batch(reference, TESSERA_F32, groups, 2, NULL) == TESSERA_OK && dot == 20);
  double d = 1;
  CHECK(tessera_gemm_strided_batch_f64(TESSERA_NONE, TESSERA_NONE, 1, 1, 0, 1, NULL, 1, 0, NULL, 1, 0, 3, &d, 1, 1, 1,
                                       NULL) == TESSERA_OK &&
        d == 3);
  dot = 7;
  all_b[1] = NULL;
  expect(tessera_gemm_batch(TESSERA_F32, groups, 2, NULL), TESSERA_INVALID_ARGUMENT, "b[1] is null");
  expect(tessera_gemm_batch(TESSERA_F32, NULL, 2, NULL), TESSERA_INVALID_ARGUMENT, "groups is null");
  expect(tessera_gemm_strided_batch_f32(TESSERA_NONE, TESSERA_NONE, 2, 2, 2, 1, a, 2, 0, b, 2, 4, 0, c, 2, 3, 3, NULL),
         TESSERA_INVALID_ARGUMENT, "stride_c = 3");
  CHECK(dot == 7);
}

/* Products in a program that flushes subnormal numbers: factors and results may be subnormal, and its state stays. */
static void floating_point_state(void) {
#ifdef __x86_64__
  const unsigned flushes = 0x9FC0, before = _mm_getcsr();
  const float a = 0x1p-100f, b = 0x1p-40f, large = 0x1p50f;
  float c[3] = {0, 0, 0};
  _mm_setcsr(flushes);
  const tessera_status first =
      tessera_gemm_f32(TESSERA_NONE, TESSERA_NONE, 1, 1, 1, 1, &a, 1, &b, 1, 0, &c[0], 1, NULL);
  const tessera_status second =
      tessera_gemm_f32(TESSERA_NONE, TESSERA_NONE, 1, 1, 1, 0x1p-140f, &large, 1, &large, 1, 0, &c[1], 1, NULL);
  const tessera_status third = tessera_gemm(TESSERA_F32, TESSERA_NONE, TESSERA_NONE, 1, 1, 1, 0x1.00000001p-140, &large,
                                            1, &large, 1, 0, &c[2], 1, NULL);
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  CHECK(first == TESSERA_OK && second == TESSERA_OK && third == TESSERA_OK);
  CHECK(c[0] == 0x1p-140f && c[1] == 0x1p-40f && c[2] == 0x1p-40f);
  CHECK(after == flushes);
#endif
}

int main(void) {
  CHECK(tessera_last_error()[0] == '\0');
  values();
  CHECK(tessera_last_error()[0] == '\0');
  verified_products();
  complex_values();
  batches();
  types_and_epilogues();
  errors();
  executors();
  copies();
  floating_point_state();
  certificates();
  return failures;
}
