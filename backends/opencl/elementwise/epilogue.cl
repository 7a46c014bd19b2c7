// A product's epilogue in a pass of its own: bias, activation, residual, one rounding to z's type. The activations are
// the sequences of operations of tessera/backend/activation.hpp.
#pragma OPENCL FP_CONTRACT OFF

#if REAL_IS_DOUBLE
#define BITS ulong
#define AS_BITS as_ulong
#define AS_REAL as_double
#define DIGITS 52
#define BIAS 1023
#define DEGREE 13
#define OVERFLOW 709.0
#define UNDERFLOW (-708.0)
#define PER_OCTAVE 1.4426950408889634
#define OCTAVE_HIGH 6.93147180369123816490e-01
#define OCTAVE_LOW 1.90821492927058770002e-10
#define SHIFT 6755399441055744.0
#define GELU_1 1.5957691216057308
#define GELU_2 0.07135481627260025
#define DIVIDE(x, y) ((x) / (y))
#else
#define BITS uint
#define AS_BITS as_uint
#define AS_REAL as_float
#define DIGITS 23
#define BIAS 127
#define DEGREE 7
#define OVERFLOW 88.0f
#define UNDERFLOW (-87.0f)
#define PER_OCTAVE 1.44269504f
#define OCTAVE_HIGH 0.693359375f
#define OCTAVE_LOW (-2.12194440e-4f)
#define SHIFT 12582912.0f
#define GELU_1 1.5957691216057308f
#define GELU_2 0.07135481627260025f
#ifdef HAS_F64
// OpenCL rounds divisions of f64 correctly, and such a quotient of f32 numbers, rounded to f32, is the correctly rounded
// one. A compiler that sees both conversions to f64 may therefore divide in f32, whose divisions OpenCL lets be wrong in
// the last places. So y, a number from 1 on or infinite, is converted by its bits.
static inline double widened(const float y) {
  const ulong bits = as_uint(y), infinite = bits == 0x7F800000u ? (2047ul - 255) << 52 : (1023ul - 127) << 52;
  return y != y ? (double)NAN : as_double((bits << 29) + infinite);
}
#define DIVIDE(x, y) ((float)((double)(x) / widened(y)))
#else
#define DIVIDE(x, y) ((x) / (y))
#endif
#endif

__constant REAL inverse_factorial[14] = {1,
                                         1,
                                         (REAL)(1.0 / 2),
                                         (REAL)(1.0 / 6),
                                         (REAL)(1.0 / 24),
                                         (REAL)(1.0 / 120),
                                         (REAL)(1.0 / 720),
                                         (REAL)(1.0 / 5040),
                                         (REAL)(1.0 / 40320),
                                         (REAL)(1.0 / 362880),
                                         (REAL)(1.0 / 3628800),
                                         (REAL)(1.0 / 39916800),
                                         (REAL)(1.0 / 479001600),
                                         (REAL)(1.0 / 6227020800.0)};

static inline REAL same_exp(const REAL x) {
  const REAL held = x < UNDERFLOW ? UNDERFLOW : x;
  const REAL shifted = fma(held, (REAL)PER_OCTAVE, (REAL)SHIFT);
  const REAL octaves = shifted - SHIFT;
  const REAL r = fma(-octaves, (REAL)OCTAVE_LOW, fma(-octaves, (REAL)OCTAVE_HIGH, held));
  REAL sum = inverse_factorial[DEGREE];
  for (int power = DEGREE; power > 0; --power) sum = fma(sum, r, inverse_factorial[power - 1]);
  const BITS n = AS_BITS(shifted) - AS_BITS((REAL)SHIFT);
  const REAL unit = AS_REAL((BITS)(n + BIAS) << DIGITS);
  return x > OVERFLOW ? (REAL)INFINITY : sum * unit;
}

static inline REAL gelu(const REAL x) {
  const REAL z = x * fma((REAL)GELU_2, x * x, (REAL)GELU_1);
  const REAL below = 1 + same_exp(-z);
  return DIVIDE(x, below);
}

// bias_per: 0 none, 1 a row, 2 a column; activation: 0 none, 1 ReLU, 2 GELU.
__kernel void finish(const long rows, const long cols, const REAL factor, const int has_x, __global const X* x,
                     const long x_at, const long ldx, const int bias_per, __global const Z* bias, const long bias_at,
                     const long bias_step, const int activation, const int has_residual, __global const Z* residual,
                     const long residual_at, const long ld_residual, __global Z* z, const long z_at, const long ldz) {
  const long j = get_global_id(0);
  if (j >= cols) return;
  for (long i = get_global_id(1); i < rows; i += get_global_size(1)) {
    REAL r = 0;
    if (has_x) r = factor * LOAD_X(x[x_at + i * ldx + j]);
    if (bias_per != 0) r = r + LOAD_Z(bias[bias_at + (bias_per == 1 ? i : j) * bias_step]);
    if (activation == 1) r = r < 0 ? (REAL)0 : r;
    if (activation == 2) r = gelu(r);
    if (has_residual) r = r + LOAD_Z(residual[residual_at + i * ld_residual + j]);
    z[z_at + i * ldz + j] = STORE_Z(r);
  }
}
