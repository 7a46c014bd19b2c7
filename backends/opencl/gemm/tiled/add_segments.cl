// add_segments: adds the sums of all segments of k in ascending order, and scales the result into C.
//
// It follows a product whose segments were shared out among work-items because C has few tiles. The contract cuts k
// here whatever a kernel does, so that no bit changes. A result takes one read for each segment. Options: REAL; Z,
// LOAD_Z, STORE_Z: stored results.
#pragma OPENCL FP_CONTRACT OFF

__kernel void add_segments(const long m, const long n, const long segments, __global const REAL* sums,
                           const long sums_at, __global Z* c, const long c_at, const long c_row, const long c_col,
                           const REAL alpha, const REAL beta) {
  const long j = get_global_id(0), i = get_global_id(1);
  if (i >= m || j >= n) return;
  sums += sums_at + i * n + j;
  REAL sum = *sums;
  for (long s = 1; s < segments; ++s) sum += sums[s * m * n];
  c += c_at + i * c_row + j * c_col;
  const REAL r = alpha * sum;
  *c = STORE_Z(beta == 0 ? r : fma(beta, LOAD_Z(*c), r));
}
