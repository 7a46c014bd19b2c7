// local_panels: work-groups of 256 compute tiles of C from packed panels, which they stage in local memory, two
// buffers in turn; each work-item has SIDE by SIDE results in registers.
//
// This is the form for GPUs. A tile of a panel is contiguous, so that each work-item copies one vector of it, without
// bounds or strides. Half of a work-item's rows and columns lie half a tile away from the others, so that neighbours
// read neighbouring vectors of local memory. Work-groups take tiles in bands of BAND rows of tiles, column by column:
// work-groups that run together share panels in the cache. Canonical; under `split`, dimension 2 counts segments of
// k, and add_segments.cl adds their sums. Source: Tan et al.: "Fast implementation of DGEMM on Fermi GPU" (2011); the
// grouped order of tiles of OpenAI's Triton.
//
// Its bits were compared on processors (PoCL). It was not run on a GPU: BAND, SIDE and TILE_K are not tuned.
//
// Options: REAL; SIDE: 8 in f32, 4 in f64; HALF: SIDE/2, elements of 128 bits; Z, LOAD_Z, STORE_Z: stored results.
#pragma OPENCL FP_CONTRACT OFF

#define GLUE_(x, y) x##y
#define GLUE(x, y) GLUE_(x, y)
#define VECTOR GLUE(REAL, HALF)
#define VLOAD GLUE(vload, HALF)
#define VSTORE GLUE(vstore, HALF)
#define TILE (16 * SIDE)
#define TILE_K 8
#define BAND 8

// Reads this work-item's vector of the tile of a panel that begins at step k0; beyond k is padding.
inline VECTOR fetch(__global const REAL* panel, const int item, const long steps, const REAL padding) {
  return item * HALF / TILE < steps ? VLOAD(item, panel) : (VECTOR)(padding);
}

// Reads a work-item's rows or columns of one step of k.
inline void read(__local const REAL* line, const int at, REAL* to) {
  VSTORE(VLOAD(at, line), 0, to);
  VSTORE(VLOAD(at, line + TILE / 2), 1, to);
}

__kernel void local_panels(const long m, const long n, const long k, __global const REAL* a, const long a_at,
                           __global const REAL* b, const long b_at, __global Z* c, const long c_at, const long ldc,
                           const long c_step, const REAL alpha, const REAL beta, const int split) {
  __local REAL a_tile[2][TILE_K * TILE] __attribute__((aligned(16)));
  __local REAL b_tile[2][TILE_K * TILE] __attribute__((aligned(16)));
  const int item = get_local_id(0), y = item / 16, x = item % 16;
  const long down = (m + TILE - 1) / TILE, across = (n + TILE - 1) / TILE, segment = get_group_id(1);
  const long band = get_group_id(0) / (BAND * across), in_band = get_group_id(0) % (BAND * across);
  const long rows_of_band = down - band * BAND < BAND ? down - band * BAND : BAND;
  const long i0 = (band * BAND + in_band % rows_of_band) * TILE, j0 = in_band / rows_of_band * TILE;
  const long begin = split ? segment * SEGMENT : 0;
  const long end = split && begin + SEGMENT < k ? begin + SEGMENT : k;
  a += a_at + i0 * k;
  b += b_at + j0 * k;

  REAL chain[SIDE][SIDE], total[SIDE][SIDE];
  for (int r = 0; r < SIDE; ++r)
    for (int s = 0; s < SIDE; ++s) chain[r][s] = total[r][s] = 0;
  VSTORE(fetch(a + begin * TILE, item, end - begin, -(REAL)0), item, a_tile[0]);
  VSTORE(fetch(b + begin * TILE, item, end - begin, (REAL)0), item, b_tile[0]);
  barrier(CLK_LOCAL_MEM_FENCE);
  int now = 0;
  for (long k0 = begin; k0 < end; k0 += TILE_K, now ^= 1) {
    const long next = k0 + TILE_K; // is read while this tile is used
    VECTOR a_next = (VECTOR)(0), b_next = (VECTOR)(0);
    if (next < end) {
      a_next = fetch(a + next * TILE, item, end - next, -(REAL)0);
      b_next = fetch(b + next * TILE, item, end - next, (REAL)0);
    }
    if (k0 > begin && k0 % SEGMENT == 0)
      for (int r = 0; r < SIDE; ++r)
        for (int s = 0; s < SIDE; ++s) {
          total[r][s] = k0 == SEGMENT ? chain[r][s] : total[r][s] + chain[r][s];
          chain[r][s] = 0;
        }
#pragma unroll
    for (int p = 0; p < TILE_K; ++p) {
      REAL u[SIDE], v[SIDE];
      read(a_tile[now] + p * TILE, y, u);
      read(b_tile[now] + p * TILE, x, v);
#pragma unroll
      for (int r = 0; r < SIDE; ++r)
#pragma unroll
        for (int s = 0; s < SIDE; ++s) chain[r][s] = fma(u[r], v[s], chain[r][s]);
    }
    if (next < end) {
      VSTORE(a_next, item, a_tile[now ^ 1]);
      VSTORE(b_next, item, b_tile[now ^ 1]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }

  c += c_at + segment * c_step;
  const bool one_chain = split || k <= SEGMENT;
  for (int r = 0; r < SIDE; ++r)
    for (int s = 0; s < SIDE; ++s) {
      const long i = i0 + y * HALF + r % HALF + r / HALF * (TILE / 2);
      const long j = j0 + x * HALF + s % HALF + s / HALF * (TILE / 2);
      if (i >= m || j >= n) continue;
      __global Z* const to = c + i * ldc + j;
      const REAL scaled = alpha * (one_chain ? chain[r][s] : total[r][s] + chain[r][s]);
      *to = STORE_Z(beta == 0 ? scaled : fma(beta, LOAD_Z(*to), scaled));
    }
}
