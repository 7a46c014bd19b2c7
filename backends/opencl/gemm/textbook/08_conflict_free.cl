// conflict_free: double_buffer with rows of local memory that are one vector longer.
//
// The padding moves the columns that the transposing store of A writes at once to different banks, so that stores
// have no bank conflicts; the reads of B still have them. Local memory grows by 3 %. One result costs what it costs
// in 06_float4.cl. Canonical. Source: SGEMM repository.
//
// Options: REAL; SIDE: results of a work-item along each side, 8 in f32 and 4 in f64; VECTOR_WIDTH: SIDE/2.
// Work-groups have 256 work-items.
#pragma OPENCL FP_CONTRACT OFF

#define GLUE_(x, y) x##y
#define GLUE(x, y) GLUE_(x, y)
#define WIDTH (SIDE / 2) // elements of 128 bits: 4 in f32, 2 in f64
#define VECTOR GLUE(REAL, VECTOR_WIDTH)
#define VLOAD GLUE(vload, VECTOR_WIDTH)
#define VSTORE GLUE(vstore, VECTOR_WIDTH)
#define TILE (16 * SIDE)
#define TILE_K 8
#define LD (TILE + WIDTH)

// Reads a vector of an operand that has `lines` lines (rows of op(A), columns of op(B)) and `steps` steps of k from
// the vector's first element on. It lies along k where x_k is 1, else across the lines. Beyond an edge is padding.
inline VECTOR fetch(__global const REAL* x, const long x_k, const long lines, const long steps, const REAL padding) {
  const long along = x_k == 1 ? steps : lines, across = x_k == 1 ? lines : steps;
  if (along >= WIDTH && across > 0) return VLOAD(0, x);
  REAL e[WIDTH];
  for (int v = 0; v < WIDTH; ++v) e[v] = v < along && across > 0 ? x[v] : padding;
  return VLOAD(0, e);
}

// Writes it to a tile [k][line] of local memory; one that lies along k is transposed.
inline void put(const VECTOR x, __local REAL (*tile)[LD], const int line, const int step, const long x_k) {
  if (x_k != 1) {
    VSTORE(x, 0, &tile[step][line]);
    return;
  }
  REAL e[WIDTH];
  VSTORE(x, 0, e);
  for (int v = 0; v < WIDTH; ++v) tile[step + v][line] = e[v];
}

// Reads SIDE neighbours of local memory as vectors.
inline void read(__local const REAL* from, REAL* to) {
  VSTORE(VLOAD(0, from), 0, to);
  VSTORE(VLOAD(1, from), 1, to);
}

// A sum is the chain of its segment and the total of the segments before, which is touched once in 1024 steps.
#define BEGIN_SEGMENT                                                                             \
  if (k0 > 0 && k0 % SEGMENT == 0)                                                                \
    for (int r = 0; r < SIDE; ++r)                                                                \
      for (int s = 0; s < SIDE; ++s) {                                                            \
        total[r][s] = k0 == SEGMENT ? chain[r][s] : total[r][s] + chain[r][s];                    \
        chain[r][s] = 0;                                                                          \
      }

__kernel void conflict_free(STRIDED_OPERANDS) {
  __local REAL a_tile[2][TILE_K][LD] __attribute__((aligned(16))), b_tile[2][TILE_K][LD] __attribute__((aligned(16)));
  const int item = get_local_id(0);
  const int row = item / 16 * SIDE, col = item % 16 * SIDE;
  const long i0 = get_group_id(1) * TILE, j0 = get_group_id(0) * TILE;
  // Each work-item copies one vector of each tile.
  const int a_line = a_col == 1 ? item / (TILE_K / WIDTH) : item % (TILE / WIDTH) * WIDTH;
  const int a_step = a_col == 1 ? item % (TILE_K / WIDTH) * WIDTH : item / (TILE / WIDTH);
  const int b_line = b_row == 1 ? item / (TILE_K / WIDTH) : item % (TILE / WIDTH) * WIDTH;
  const int b_step = b_row == 1 ? item % (TILE_K / WIDTH) * WIDTH : item / (TILE / WIDTH);
  a += a_at + (i0 + a_line) * a_row + a_step * a_col;
  b += b_at + (j0 + b_line) * b_col + b_step * b_row;
  REAL chain[SIDE][SIDE], total[SIDE][SIDE];
  for (int r = 0; r < SIDE; ++r)
    for (int s = 0; s < SIDE; ++s) chain[r][s] = 0;
  put(fetch(a + 0 * a_col, a_col, m - i0 - a_line, k - 0 - a_step, -(REAL)0), a_tile[0], a_line, a_step, a_col);
  put(fetch(b + 0 * b_row, b_row, n - j0 - b_line, k - 0 - b_step, (REAL)0), b_tile[0], b_line, b_step, b_row);
  barrier(CLK_LOCAL_MEM_FENCE);
  int now = 0;
  for (long k0 = 0; k0 < k; k0 += TILE_K, now ^= 1) {
    const long next = k0 + TILE_K; // is read while this tile is used
    VECTOR a_next = 0, b_next = 0;
    if (next < k) {
      a_next = fetch(a + next * a_col, a_col, m - i0 - a_line, k - next - a_step, -(REAL)0);
      b_next = fetch(b + next * b_row, b_row, n - j0 - b_line, k - next - b_step, (REAL)0);
    }
    BEGIN_SEGMENT
#pragma unroll
    for (int p = 0; p < TILE_K; ++p) {
      REAL x[SIDE], y[SIDE];
      read(&a_tile[now][p][row], x);
      read(&b_tile[now][p][col], y);
#pragma unroll
      for (int r = 0; r < SIDE; ++r)
#pragma unroll
        for (int s = 0; s < SIDE; ++s) chain[r][s] = fma(x[r], y[s], chain[r][s]);
    }
    if (next < k) {
      put(a_next, a_tile[now ^ 1], a_line, a_step, a_col);
      put(b_next, b_tile[now ^ 1], b_line, b_step, b_row);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int r = 0; r < SIDE; ++r)
    for (int s = 0; s < SIDE; ++s) {
      const long i = i0 + row + r, j = j0 + col + s;
      if (i >= m || j >= n) continue;
      __global REAL* const to = c + c_at + i * ldc + j;
      const REAL scaled = alpha * (k > SEGMENT ? total[r][s] + chain[r][s] : chain[r][s]);
      *to = beta == 0 ? scaled : fma(beta, *to, scaled);
    }
}
