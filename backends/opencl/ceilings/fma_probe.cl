// Keeps the multiply-add units busy: each work-item extends eight independent chains of vectors in registers. VECTOR is
// REAL or a vector of it, of the width that the device prefers.
#pragma OPENCL FP_CONTRACT OFF
#define CHAINS 8
#define STEPS 64

// x := a * x + b converges to b / (1 - a) = 1 for every start, so that all values stay ordinary numbers.
__kernel void fma_chains(const REAL a, const REAL b, const int rounds, __global VECTOR* results, const long at) {
  VECTOR x[CHAINS];
  const VECTOR va = (VECTOR)(a), vb = (VECTOR)(b);
#pragma unroll
  for (int c = 0; c < CHAINS; ++c) x[c] = (VECTOR)((REAL)(get_global_id(0) + c));
  for (int round = 0; round < rounds; ++round)
#pragma unroll 8
    for (int step = 0; step < STEPS; ++step)
#pragma unroll
      for (int c = 0; c < CHAINS; ++c) x[c] = fma(x[c], va, vb);
  VECTOR sum = (VECTOR)((REAL)0);
#pragma unroll
  for (int c = 0; c < CHAINS; ++c) sum += x[c];
  results[at + get_global_id(0)] = sum; // the compiler must keep the chains
}
