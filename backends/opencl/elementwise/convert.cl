// Conversions between element types; each element is rounded at most once. REAL is the type that x is computed with,
// and TO the one of z: f32, which 16-bit elements are rounded from, or f64.
#pragma OPENCL FP_CONTRACT OFF

#ifdef NARROWS_F64
// Rounds to float, to odd: rounded to 16 bits then, it is as if x were rounded once. Source: Boldo, Melquiond:
// "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd" (2008).
static inline float converted(const double x) {
  const ulong bits = as_ulong(x), magnitude = bits & 0x7FFFFFFFFFFFFFFFul;
  const uint sign = (uint)(bits >> 32) & 0x80000000u;
  if (magnitude > 0x7FF0000000000000ul) return as_float(sign | 0x7FC00000u);  // NaN
  if (magnitude >= 0x47F0000000000000ul) return as_float(sign | 0x7F800000u); // from 2^128 on
  const int exponent = (int)(magnitude >> 52);
  if (magnitude == 0) return as_float(sign);
  if (exponent < 863) return as_float(sign | 1u); // below 2^-160
  ulong digits = magnitude - (896ul << 52);
  int dropped = 29;
  if (exponent < 897) { // float has subnormals here
    digits = (magnitude & 0xFFFFFFFFFFFFFul) | (1ul << 52);
    dropped = 926 - exponent;
  }
  const bool inexact = (digits & ((1ul << dropped) - 1)) != 0;
  return as_float(sign | (uint)(digits >> dropped) | (inexact ? 1u : 0u));
}
#else
static inline TO converted(const REAL x) { return (TO)x; }
#endif

__kernel void convert(const long rows, const long cols, __global const X* x, const long x_at, const long ldx,
                      __global Z* z, const long z_at, const long ldz) {
  const long j = get_global_id(0);
  if (j >= cols) return;
  for (long i = get_global_id(1); i < rows; i += get_global_size(1))
    z[z_at + i * ldz + j] = STORE_Z(converted(LOAD_X(x[x_at + i * ldx + j])));
}
