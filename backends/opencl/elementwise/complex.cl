// Operations on complex numbers, in the order of roundings of docs/contract.md. A number is two elements, the real part
// first; places, strides and sizes count elements of the parts, rows and columns count numbers. A factor whose
// imaginary part is zero is real: it multiplies both parts and adds nothing to them, not even 0 * Inf.
#pragma OPENCL FP_CONTRACT OFF

#if REAL_IS_DOUBLE
typedef double2 Number;
#else
typedef float2 Number;
#endif

// Numbers are aligned to their parts alone.
static inline Number load(__global const REAL* x) { return (Number)(x[0], x[1]); }
static inline void store(__global REAL* z, const Number x) {
  z[0] = x.x;
  z[1] = x.y;
}

static inline Number scaled(const Number alpha, const Number x) {
  if (alpha.y == 0) return (Number)(alpha.x * x.x, alpha.x * x.y);
  return (Number)(fma(-alpha.y, x.y, alpha.x * x.x), fma(alpha.y, x.x, alpha.x * x.y));
}
static inline Number added(const Number beta, const Number y, const Number sum) {
  const Number real = (Number)(fma(beta.x, y.x, sum.x), fma(beta.x, y.y, sum.y));
  if (beta.y == 0) return real;
  return (Number)(fma(-beta.y, y.y, real.x), fma(beta.y, y.x, real.y));
}

// z = op(x), element (i, j) from x[x_at + i * x_row + j * x_col]. With `expands` each number becomes two rows,
// [[re, im], [-im, re]].
__kernel void copy_complex(const long rows, const long cols, __global const REAL* x, const long x_at, const long x_row,
                           const long x_col, const int conjugates, const int expands, __global REAL* z,
                           const long z_at, const long z_row) {
  const long j = get_global_id(0);
  if (j >= cols) return;
  for (long i = get_global_id(1); i < rows; i += get_global_size(1)) {
    Number number = load(x + x_at + i * x_row + j * x_col);
    if (conjugates) number.y = -number.y;
    __global REAL* to = z + z_at + (expands ? 2 * i : i) * z_row + 2 * j;
    store(to, number);
    if (expands) store(to + z_row, (Number)(-number.y, number.x));
  }
}

// z = alpha * x + beta * y; with beta = 0 y is not read.
__kernel void combine_complex(const long rows, const long cols, const REAL alpha_re, const REAL alpha_im,
                              __global const REAL* x, const long x_at, const long x_row, const REAL beta_re,
                              const REAL beta_im, __global const REAL* y, const long y_at, const long y_row,
                              __global REAL* z, const long z_at, const long z_row) {
  const long j = get_global_id(0);
  if (j >= cols) return;
  const Number alpha = (Number)(alpha_re, alpha_im), beta = (Number)(beta_re, beta_im);
  const bool reads_y = beta_re != 0 || beta_im != 0;
  for (long i = get_global_id(1); i < rows; i += get_global_size(1)) {
    const Number sum = scaled(alpha, load(x + x_at + i * x_row + 2 * j));
    store(z + z_at + i * z_row + 2 * j, reads_y ? added(beta, load(y + y_at + i * y_row + 2 * j), sum) : sum);
  }
}
