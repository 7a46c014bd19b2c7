// pack_by_groups: pack_panels for GPUs: work-groups of 16 by 16 copy squares of an operand to panels by way of local
// memory, so that neighbours read neighbours, whichever way the operand lies, and write neighbours of a panel.
//
// The square's rows are one element longer, so that a column's elements lie in different banks. The last panel is
// filled up with zeros. An element is read and written once. Source: Ruetsch, Micikevicius: "Optimizing matrix
// transpose in CUDA" (2009).
//
// Options: REAL; X, LOAD_X: stored elements; WIDTH: lines of a panel, a multiple of 16.
#pragma OPENCL FP_CONTRACT OFF

#define SQUARE 16

__kernel void pack_by_groups(const long outer, const long k, __global const X* x, const long x_at, const long x_outer,
                             const long x_k, __global REAL* to, const long to_at) {
  __local REAL square[SQUARE][SQUARE + 1];
  const int across = get_local_id(0), down = get_local_id(1);
  const long line0 = get_group_id(0) * SQUARE, p0 = get_group_id(1) * SQUARE;
  const int line = x_k == 1 ? down : across, step = x_k == 1 ? across : down;
  const bool inside = line0 + line < outer && p0 + step < k;
  square[step][line] = inside ? LOAD_X(x[x_at + (line0 + line) * x_outer + (p0 + step) * x_k]) : (REAL)0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const long panel = line0 / WIDTH;
  if (p0 + down < k) to[to_at + (panel * k + p0 + down) * WIDTH + line0 % WIDTH + across] = square[down][across];
}
