// local_tile: a work-group copies square tiles of A and B to local memory, and each work-item computes one result.
//
// It is CUDA's shared_tile. Each element that is read from global memory serves 16 results: one result costs 2*k
// operations and reads 2*k/16 elements; local memory is read twice for each fma. Tiles that reach over an edge are
// padded as they are loaded. Canonical. Source: CUDA matmul blog; course report; SGEMM repository.
#pragma OPENCL FP_CONTRACT OFF

#define TILE 16
#define LD TILE // elements from one row of a tile to the next

__kernel void local_tile(STRIDED_OPERANDS) {
  __local REAL a_tile[TILE][LD], b_tile[TILE][LD];
  const int x = get_local_id(0), y = get_local_id(1);
  const long i0 = get_group_id(1) * TILE, j0 = get_group_id(0) * TILE;
  // Neighbours of dimension 0 read neighbours in memory: along the rows of a tile, or down the columns of one that is
  // stored transposed.
  const int a_i = a_col == 1 ? y : x, a_p = a_col == 1 ? x : y;
  const int b_p = b_col == 1 ? y : x, b_j = b_col == 1 ? x : y;
  a += a_at + (i0 + a_i) * a_row + a_p * a_col;
  b += b_at + b_p * b_row + (j0 + b_j) * b_col;
  REAL sum = 0, chain = 0;
  for (long k0 = 0; k0 < k; k0 += TILE, a += TILE * a_col, b += TILE * b_row) {
    a_tile[a_i][a_p] = i0 + a_i < m && k0 + a_p < k ? *a : -(REAL)0; // fma(-0, +0, s) is s for every s
    b_tile[b_p][b_j] = k0 + b_p < k && j0 + b_j < n ? *b : (REAL)0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (k0 > 0 && k0 % SEGMENT == 0) {
      sum = k0 == SEGMENT ? chain : sum + chain;
      chain = 0;
    }
#pragma unroll
    for (int p = 0; p < TILE; ++p) chain = fma(a_tile[y][p], b_tile[p][x], chain);
    barrier(CLK_LOCAL_MEM_FENCE); // all work-items have used the tiles
  }
  if (i0 + y >= m || j0 + x >= n) return;
  c += c_at + (i0 + y) * ldc + j0 + x;
  const REAL r = alpha * (k > SEGMENT ? sum + chain : chain);
  *c = beta == 0 ? r : fma(beta, *c, r);
}
