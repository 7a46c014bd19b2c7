// pack_panels: copies op(A) or op(B) to panels [k][width], in the order in which a multiplying kernel reads them.
//
// An operand is `outer` lines of k elements: rows of op(A), columns of op(B). So a transposed operand differs in its
// strides alone, and an operand of 16 bits in how it is loaded: kernels that multiply panels have one form. The last
// panel is filled up with zeros; its sums are not stored. An element is read and written once. Source: Goto, van de
// Geijn: "Anatomy of high-performance matrix multiplication" (2008).
//
// Options: REAL; X, LOAD_X: stored elements; WIDTH: lines of a panel. A work-item copies `depth` steps of k of a panel.
#pragma OPENCL FP_CONTRACT OFF

__kernel void pack_panels(const long outer, const long k, __global const X* x, const long x_at, const long x_outer,
                          const long x_k, __global REAL* to, const long to_at, const long depth) {
  const long panel = get_global_id(0), begin = get_global_id(1) * depth;
  const long end = begin + depth < k ? begin + depth : k;
  if (panel * WIDTH >= outer || begin >= k) return;
  const int lines = (int)(outer - panel * WIDTH < WIDTH ? outer - panel * WIDTH : WIDTH);
  x += x_at + panel * WIDTH * x_outer;
  to += to_at + panel * WIDTH * k;
  if (lines == WIDTH && x_outer == 1) {
    for (long p = begin; p < end; ++p)
#pragma unroll
      for (int r = 0; r < WIDTH; ++r) to[p * WIDTH + r] = LOAD_X(x[p * x_k + r]);
  } else if (lines == WIDTH) {
    for (long p = begin; p < end; ++p)
#pragma unroll
      for (int r = 0; r < WIDTH; ++r) to[p * WIDTH + r] = LOAD_X(x[p * x_k + r * x_outer]);
  } else {
    for (long p = begin; p < end; ++p)
      for (int r = 0; r < WIDTH; ++r) to[p * WIDTH + r] = r < lines ? LOAD_X(x[p * x_k + r * x_outer]) : 0;
  }
}
