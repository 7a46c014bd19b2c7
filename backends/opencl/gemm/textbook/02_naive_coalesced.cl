// naive_coalesced: each work-item computes one element of C, and neighbours of dimension 0 are neighbours in a row of
// C.
//
// So their reads of B and their writes of C are of neighbouring elements, and the element of A is one for all of
// them. One result costs 2*k operations and reads 2*k elements; caches alone make that fewer bytes. Canonical: a
// chain of fma for each segment of k, the segments' sums added in ascending order. Source: CUDA matmul blog; SGEMM
// repository.
#pragma OPENCL FP_CONTRACT OFF

__kernel void naive_coalesced(STRIDED_OPERANDS) {
  const long j = get_global_id(0), i = get_global_id(1);
  if (i >= m || j >= n) return;
  a += a_at + i * a_row;
  b += b_at + j * b_col;
  REAL sum = 0;
  for (long first = 0; first < k; first += SEGMENT) {
    const int steps = (int)(k - first < SEGMENT ? k - first : SEGMENT);
    REAL chain = 0;
    for (int p = 0; p < steps; ++p, a += a_col, b += b_row) chain = fma(*a, *b, chain);
    sum = first == 0 ? chain : sum + chain;
  }
  c += c_at + i * ldc + j;
  const REAL r = alpha * sum;
  *c = beta == 0 ? r : fma(beta, *c, r);
}
