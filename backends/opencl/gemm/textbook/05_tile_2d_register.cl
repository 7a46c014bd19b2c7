// tile_2d_register: each work-item computes 8x8 results (4x4 in f64), with the operands of an outer product in
// registers.
//
// Sixteen reads of local memory feed 64 fma, a quarter of a read for each. The columns of a work-item are 16 apart,
// so that neighbours read neighbours. One result costs 2*k operations and reads 2*k/128 elements from global memory
// (2*k/64 in f64). Canonical. Source: SGEMM repository.
//
// Options: REAL; SIDE: results of a work-item along each side. Work-groups have 256 work-items.
#pragma OPENCL FP_CONTRACT OFF

#define ACROSS 16
#define TILE (ACROSS * SIDE)
#define TILE_K 8

// A sum is the chain of its segment and the total of the segments before, which is touched once in 1024 steps.
#define BEGIN_SEGMENT                                                                             \
  if (k0 > 0 && k0 % SEGMENT == 0)                                                                \
    for (int r = 0; r < SIDE; ++r)                                                                \
      for (int s = 0; s < SIDE; ++s) {                                                            \
        total[r][s] = k0 == SEGMENT ? chain[r][s] : total[r][s] + chain[r][s];                    \
        chain[r][s] = 0;                                                                          \
      }

__kernel void tile_2d_register(STRIDED_OPERANDS) {
  __local REAL a_tile[TILE][TILE_K], b_tile[TILE_K][TILE];
  const int item = get_local_id(0), row = item / ACROSS * SIDE, col = item % ACROSS;
  const long i0 = get_group_id(1) * TILE, j0 = get_group_id(0) * TILE;
  a += a_at + i0 * a_row;
  b += b_at + j0 * b_col;
  REAL chain[SIDE][SIDE], total[SIDE][SIDE];
  for (int r = 0; r < SIDE; ++r)
    for (int s = 0; s < SIDE; ++s) chain[r][s] = 0;
  for (long k0 = 0; k0 < k; k0 += TILE_K) {
    for (int e = item; e < TILE * TILE_K; e += 256) { // neighbours read neighbours in memory
      const int i = a_col == 1 ? e / TILE_K : e % TILE, p = a_col == 1 ? e % TILE_K : e / TILE;
      a_tile[i][p] = i0 + i < m && k0 + p < k ? a[i * a_row + (k0 + p) * a_col] : -(REAL)0;
      const int j = b_col == 1 ? e % TILE : e / TILE_K, q = b_col == 1 ? e / TILE : e % TILE_K;
      b_tile[q][j] = k0 + q < k && j0 + j < n ? b[(k0 + q) * b_row + j * b_col] : (REAL)0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    BEGIN_SEGMENT
#pragma unroll
    for (int p = 0; p < TILE_K; ++p) {
      REAL x[SIDE], y[SIDE];
#pragma unroll
      for (int r = 0; r < SIDE; ++r) x[r] = a_tile[row + r][p];
#pragma unroll
      for (int s = 0; s < SIDE; ++s) y[s] = b_tile[p][col + s * ACROSS];
#pragma unroll
      for (int r = 0; r < SIDE; ++r)
#pragma unroll
        for (int s = 0; s < SIDE; ++s) chain[r][s] = fma(x[r], y[s], chain[r][s]);
    }
    barrier(CLK_LOCAL_MEM_FENCE); // all work-items have used the tiles
  }
  for (int r = 0; r < SIDE; ++r)
    for (int s = 0; s < SIDE; ++s) {
      const long i = i0 + row + r, j = j0 + col + s * ACROSS;
      if (i >= m || j >= n) continue;
      __global REAL* const to = c + c_at + i * ldc + j;
      const REAL scaled = alpha * (k > SEGMENT ? total[r][s] + chain[r][s] : chain[r][s]);
      *to = beta == 0 ? scaled : fma(beta, *to, scaled);
    }
}
