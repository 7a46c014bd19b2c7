// few_rows: work-groups of 64 compute ROWS rows by 64 columns of C, a column each work-item; nothing is packed.
//
// This is the form for GPUs where C has few rows, or few columns and the product is turned: B is read once, and that is
// the cost. Steps of k go through local memory, so that neighbours read neighbours whichever way B lies; its rows there
// are one element longer, which puts a column's elements into different banks. Segments of k are dimension 2 under
// `split`, because a row alone has few work-groups. Canonical. Source: the GEMV of Nath, Tomov, Dongarra: "Accelerating
// GPU kernels for dense linear algebra" (2010).
//
// Its bits were compared on processors (PoCL). It was not run on a GPU.
//
// Options: REAL; ROWS; X, LOAD_X: stored operands; Z, LOAD_Z, STORE_Z: stored results.
#pragma OPENCL FP_CONTRACT OFF

#define COLUMNS 64
#define DEPTH 16

__kernel void few_rows(const long m, const long n, const long k, __global const X* a, const long a_at, const long a_row,
                       const long a_col, __global const X* b, const long b_at, const long b_row, const long b_col,
                       __global Z* c, const long c_at, const long c_row, const long c_col, const long c_step,
                       const REAL alpha, const REAL beta, const int split) {
  __local REAL a_tile[DEPTH][ROWS], b_tile[DEPTH][COLUMNS + 1];
  const int item = get_local_id(0);
  const long j0 = get_group_id(0) * COLUMNS, i0 = get_group_id(1) * ROWS, segment = get_group_id(2);
  const long begin = split ? segment * SEGMENT : 0;
  const long end = split && begin + SEGMENT < k ? begin + SEGMENT : k;
  a += a_at + i0 * a_row;
  b += b_at + j0 * b_col;
  REAL chain[ROWS], total[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) chain[r] = total[r] = 0;
  for (long k0 = begin; k0 < end; k0 += DEPTH) {
    for (int e = item; e < DEPTH * COLUMNS; e += COLUMNS) { // neighbours read neighbours in memory
      const int p = b_row == 1 ? e % DEPTH : e / COLUMNS, j = b_row == 1 ? e / DEPTH : e % COLUMNS;
      b_tile[p][j] = k0 + p < end && j0 + j < n ? LOAD_X(b[(k0 + p) * b_row + j * b_col]) : (REAL)0;
    }
    for (int e = item; e < DEPTH * ROWS; e += COLUMNS) {
      const int p = e % DEPTH, i = e / DEPTH;
      a_tile[p][i] = k0 + p < end && i0 + i < m ? LOAD_X(a[i * a_row + (k0 + p) * a_col]) : -(REAL)0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (k0 > begin && k0 % SEGMENT == 0) {
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        total[r] = k0 == SEGMENT ? chain[r] : total[r] + chain[r];
        chain[r] = 0;
      }
    }
#pragma unroll
    for (int p = 0; p < DEPTH; ++p) {
      const REAL y = b_tile[p][item];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) chain[r] = fma(a_tile[p][r], y, chain[r]);
    }
    barrier(CLK_LOCAL_MEM_FENCE); // all work-items have used the tiles
  }
  if (j0 + item >= n) return;
  c += c_at + segment * c_step + i0 * c_row + (j0 + item) * c_col;
  const bool one_chain = split || k <= SEGMENT;
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    if (i0 + r >= m) break;
    __global Z* const to = c + r * c_row;
    const REAL scaled = alpha * (one_chain ? chain[r] : total[r] + chain[r]);
    *to = STORE_Z(beta == 0 ? scaled : fma(beta, LOAD_Z(*to), scaled));
  }
}
