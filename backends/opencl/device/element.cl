// What all files of kernels begin with: the types of elements and the number in which elements are computed with.
//
// A kernel is compiled for REAL, float or double; element-wise kernels for a stored type X or Z besides, each with its
// own load and store. Nothing is fused but what is written as fma. 16-bit elements are converted by their bits, so that
// no extension of a device decides how they are rounded.
#pragma OPENCL FP_CONTRACT OFF
#ifdef HAS_F64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

// k of a segment of a strict sum; docs/contract.md.
#define SEGMENT 1024

static inline float load_f32(const float x) { return x; }
static inline float store_f32(const float x) { return x; }

static inline float load_f16(const ushort stored) {
  const uint magnitude = stored & 0x7FFFu, sign = (uint)(stored & 0x8000u) << 16, rebias = 112u << 23;
  // A subnormal is the last digits of a number from 0.5 on whose unit in the last place is the subnormals' unit.
  const uint small = as_uint(as_float(0x3F000000u | (magnitude & 0x3FFu)) - 0.5f);
  const uint normal = (magnitude << 13) + rebias, special = (magnitude << 13) + 2 * rebias;
  const uint quiet = magnitude > 0x7C00u ? 0x00400000u : 0u;
  return as_float(sign | quiet | (magnitude < 0x400u ? small : magnitude < 0x7C00u ? normal : special));
}
static inline ushort store_f16(const float x) {
  const uint bits = as_uint(x), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
  const uint small = as_uint(as_float(magnitude < 0x38800000u ? magnitude : 0u) + 0.5f) - 0x3F000000u;
  const uint normal = (magnitude - (112u << 23) + 0xFFFu + (magnitude >> 13 & 1u)) >> 13;
  const uint finite = magnitude < 0x38800000u ? small : normal; // from 2^-14 on normal
  const uint large = magnitude > 0x7F800000u ? 0x7E00u | (magnitude >> 13 & 0x3FFu) : 0x7C00u;
  return (ushort)(sign | (magnitude < 0x47800000u ? finite : large)); // below 2^16
}

static inline float load_bf16(const ushort stored) {
  return as_float((uint)stored << 16 | ((stored & 0x7FFFu) > 0x7F80u ? 0x00400000u : 0u));
}
static inline ushort store_bf16(const float x) {
  const uint bits = as_uint(x), rounded = bits + 0x7FFFu + (bits >> 16 & 1u);
  return (ushort)(((bits & 0x7FFFFFFFu) > 0x7F800000u ? bits | 0x00400000u : rounded) >> 16);
}

#ifdef HAS_F64
static inline double load_f64(const double x) { return x; }
static inline double store_f64(const double x) { return x; }
#endif

// The operands of a product, as gemm/common/strided.hpp gives them. Element (i, p) of op(A) is
// a[a_at + i * a_row + p * a_col], and so on.
#define STRIDED_OPERANDS                                                                        \
  const long m, const long n, const long k, __global const REAL *a, const long a_at, const long a_row, \
      const long a_col, __global const REAL *b, const long b_at, const long b_row, const long b_col,   \
      __global REAL *c, const long c_at, const long ldc, const REAL alpha, const REAL beta
