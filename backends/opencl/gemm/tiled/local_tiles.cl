// local_tiles: work-groups compute tiles of C from tiles of the operands that they stage in local memory, two buffers
// in turn; each work-item has MR by NR results in registers.
//
// This is the form for GPUs. A tile has GY·MR rows and GX·NR columns of GY·GX work-items. The rows and columns of a
// work-item are vectors that lie GY and GX vectors apart, and the work-items of each 32 are laid out along a Z-curve, so
// that neighbours read neighbouring vectors of local memory, or the same. C of few rows or columns takes narrow tiles. Large products read panels, in which a tile
// is contiguous (PACKED); small ones read their operands where they are. Work-groups take tiles in bands of BAND rows
// of tiles, column by column: work-groups that run together share operands in the cache. Canonical: the sums of the
// segments before are kept in `kept`, memory of the work-item's own, so that they take no registers; or dimension 1
// counts segments of k (`split`), and add_segments.cl adds their sums. Without `split` it counts the products of a
// batch. Source: Tan et al.: "Fast implementation of DGEMM on Fermi GPU" (2011); the grouped order of tiles of OpenAI's
// Triton; the Z-order of the SGEMM repository.
//
// Options: REAL; VEC: elements of 128 bits; MR, NR: multiples of VEC; GY, GX: multiples of 4, one of them of 8; TILE_K; PACKED;
// X, LOAD_X: stored operands; Z, LOAD_Z, STORE_Z: stored results; VECTOR_RESULTS: Z is REAL.
#pragma OPENCL FP_CONTRACT OFF

#define GLUE_(x, y) x##y
#define GLUE(x, y) GLUE_(x, y)
#define VECTOR GLUE(REAL, VEC)
#define ITEMS (GY * GX)
#define TILE_M (GY * MR)
#define TILE_N (GX * NR)
#define BAND 8
#define CURVE_X (GX % 8 == 0 ? 8 : 4) // work-items of a curve along a row
#define CURVE_Y (32 / CURVE_X)
#define MV (MR / VEC)
#define NV (NR / VEC)
#define CHUNKS(tile) ((tile) * TILE_K / (VEC * ITEMS)) // vectors of a tile that a work-item copies
#if TILE_M * TILE_K % (VEC * ITEMS) != 0 || TILE_N * TILE_K % (VEC * ITEMS) != 0 || SEGMENT % TILE_K != 0
#error "the work-items of a group cannot share out its tiles, or a tile reaches over a segment's end"
#endif

// Where a chunk is in its tile of `tile` lines: a step of k, and the first of VEC lines. Neighbours are neighbours in
// memory, whichever way an operand lies.
inline int step_of(const int chunk, const int tile, const bool along_k) {
  return along_k ? chunk % TILE_K : chunk / (tile / VEC);
}
inline int line_of(const int chunk, const int tile, const bool along_k) {
  return along_k ? chunk / TILE_K * VEC : chunk % (tile / VEC) * VEC;
}

#ifdef PACKED
#define STORED REAL
inline VECTOR fetch(__global const REAL* x, const long line, const long x_k, const int chunk, const int tile,
                    const long lines, const long steps, const REAL padding) {
  return chunk / (tile / VEC) < steps ? ((__global const VECTOR*)x)[chunk] : (VECTOR)(padding);
}
#else
#define STORED X
inline VECTOR fetch(__global const X* x, const long x_line, const long x_k, const int chunk, const int tile,
                    const long lines, const long steps, const REAL padding) {
  const int step = step_of(chunk, tile, x_k == 1), line = line_of(chunk, tile, x_k == 1);
  union {
    REAL element[VEC];
    VECTOR all;
  } to;
  x += line * x_line + step * x_k;
#pragma unroll
  for (int v = 0; v < VEC; ++v) to.element[v] = step < steps && line + v < lines ? LOAD_X(x[v * x_line]) : padding;
  return to.all;
}
#endif

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void local_tiles(
    const long m, const long n, const long k, __global const STORED* a, const long a_at, const long a_row,
    const long a_col, const long a_step, __global const STORED* b, const long b_at, const long b_row, const long b_col,
    const long b_step, __global Z* c, const long c_at, const long ldc, const long c_step, const REAL alpha,
    const REAL beta, const int split, const int whole_vectors, __global REAL* kept, const long kept_at) {
  __local VECTOR a_tile[2][TILE_K][TILE_M / VEC + 1], b_tile[2][TILE_K][TILE_N / VEC + 1];
  const int item = get_local_id(0);
  // A Z-curve for each 32 work-items: bits of the lane go to columns and rows in turns, the last one to the longer side.
  const int lane = item % 32, block = item / 32;
  const int down_32 = (lane >> 1 & 1) | (lane >> 2 & 2) | (CURVE_Y == 8 ? lane >> 2 & 4 : 0);
  const int across_32 = (lane & 1) | (lane >> 1 & 2) | (CURVE_X == 8 ? lane >> 2 & 4 : 0);
  const int y = block / (GX / CURVE_X) * CURVE_Y + down_32, x = block % (GX / CURVE_X) * CURVE_X + across_32;
  const long down = (m + TILE_M - 1) / TILE_M, across = (n + TILE_N - 1) / TILE_N, second = get_group_id(1);
  const long band = get_group_id(0) / (BAND * across), in_band = get_group_id(0) % (BAND * across);
  const long rows_of_band = down - band * BAND < BAND ? down - band * BAND : BAND;
  const long i0 = (band * BAND + in_band % rows_of_band) * TILE_M, j0 = in_band / rows_of_band * TILE_N;
  const long begin = split ? second * SEGMENT : 0;
  const long end = split && begin + SEGMENT < k ? begin + SEGMENT : k;
#ifdef PACKED
  a += a_at + i0 * k + begin * TILE_M;
  b += b_at + j0 * k + begin * TILE_N;
  const long a_next_tile = TILE_K * TILE_M, b_next_tile = TILE_K * TILE_N;
  const bool a_along = false, b_along = false;
#else
  a += a_at + (split ? 0 : second * a_step) + i0 * a_row + begin * a_col;
  b += b_at + (split ? 0 : second * b_step) + j0 * b_col + begin * b_row;
  const long a_next_tile = TILE_K * a_col, b_next_tile = TILE_K * b_row;
  const bool a_along = a_col == 1, b_along = b_row == 1;
#endif
  c += c_at + second * c_step;
  kept += kept_at + ((second * get_num_groups(0) + get_group_id(0)) * ITEMS + item) * VEC;

  VECTOR chain[MR][NV], a_next[CHUNKS(TILE_M)], b_next[CHUNKS(TILE_N)];
#pragma unroll
  for (int r = 0; r < MR; ++r)
#pragma unroll
    for (int s = 0; s < NV; ++s) chain[r][s] = (VECTOR)(0);
#define FETCH(steps)                                                                                        \
  {                                                                                                         \
    _Pragma("unroll") for (int q = 0; q < CHUNKS(TILE_M); ++q) a_next[q] =                                  \
        fetch(a, a_row, a_col, item + q * ITEMS, TILE_M, m - i0, steps, -(REAL)0);                          \
    _Pragma("unroll") for (int q = 0; q < CHUNKS(TILE_N); ++q) b_next[q] =                                  \
        fetch(b, b_col, b_row, item + q * ITEMS, TILE_N, n - j0, steps, (REAL)0);                           \
  }
#define PUT(buffer)                                                                                         \
  {                                                                                                         \
    _Pragma("unroll") for (int q = 0; q < CHUNKS(TILE_M); ++q)                                              \
        a_tile[buffer][step_of(item + q * ITEMS, TILE_M, a_along)][line_of(item + q * ITEMS, TILE_M, a_along) / VEC] = \
            a_next[q];                                                                                      \
    _Pragma("unroll") for (int q = 0; q < CHUNKS(TILE_N); ++q)                                              \
        b_tile[buffer][step_of(item + q * ITEMS, TILE_N, b_along)][line_of(item + q * ITEMS, TILE_N, b_along) / VEC] = \
            b_next[q];                                                                                      \
  }
  FETCH(end - begin)
  PUT(0)
  barrier(CLK_LOCAL_MEM_FENCE);
  int now = 0;
  for (long k0 = begin; k0 < end; k0 += TILE_K, now ^= 1) {
    a += a_next_tile; // what is fetched now is used in the next step
    b += b_next_tile;
    const long left = end - k0 - TILE_K;
    if (left > 0) FETCH(left)
    if (k0 > begin && k0 % SEGMENT == 0) {
#pragma unroll
      for (int r = 0; r < MR; ++r)
#pragma unroll
        for (int s = 0; s < NV; ++s) {
          __global VECTOR* const sum = (__global VECTOR*)(kept + (r * NV + s) * get_num_groups(0) * get_num_groups(1) * ITEMS * VEC);
          *sum = k0 == SEGMENT ? chain[r][s] : *sum + chain[r][s];
          chain[r][s] = (VECTOR)(0);
        }
    }
#pragma unroll
    for (int p = 0; p < TILE_K; ++p) {
      union {
        VECTOR all[MV];
        REAL element[MR];
      } u;
      VECTOR v[NV];
#pragma unroll
      for (int r = 0; r < MV; ++r) u.all[r] = a_tile[now][p][r * GY + y];
#pragma unroll
      for (int s = 0; s < NV; ++s) v[s] = b_tile[now][p][s * GX + x];
#pragma unroll
      for (int r = 0; r < MR; ++r)
#pragma unroll
        for (int s = 0; s < NV; ++s) chain[r][s] = fma((VECTOR)(u.element[r]), v[s], chain[r][s]);
    }
    if (left > 0) PUT(now ^ 1)
    barrier(CLK_LOCAL_MEM_FENCE);
  }

  const bool one_chain = split || k <= SEGMENT;
#pragma unroll
  for (int r = 0; r < MR; ++r) {
    const long i = i0 + (r / VEC * GY + y) * VEC + r % VEC;
    if (i >= m) continue;
#pragma unroll
    for (int s = 0; s < NV; ++s) {
      const long j = j0 + (s * GX + x) * VEC;
      if (j >= n) continue;
      __global const VECTOR* const sum =
          (__global const VECTOR*)(kept + (r * NV + s) * get_num_groups(0) * get_num_groups(1) * ITEMS * VEC);
      union {
        VECTOR all;
        REAL element[VEC];
      } scaled;
      scaled.all = alpha * (one_chain ? chain[r][s] : *sum + chain[r][s]);
      __global Z* const to = c + i * ldc + j;
#ifdef VECTOR_RESULTS
      if (whole_vectors && j + VEC <= n) {
        __global VECTOR* const all = (__global VECTOR*)to;
        *all = beta == 0 ? scaled.all : fma((VECTOR)(beta), *all, scaled.all);
        continue;
      }
#endif
#pragma unroll
      for (int v = 0; v < VEC; ++v)
        if (j + v < n)
          to[v] = STORE_Z(beta == 0 ? scaled.element[v] : fma(beta, LOAD_Z(to[v]), scaled.element[v]));
    }
  }
}
