// register_tiles: each work-item computes MR rows by NV vectors of C in registers, from panels that lie in memory in
// the order in which it reads them.
//
// This is the form for processors: no local memory and no barriers, so that a work-item is a loop of vector
// multiply-adds, and caches hold what the next work-items read again: one panel of B meets all panels of A, in turn.
// For MR + NV*W elements read a work-item does MR*NV*W multiply-adds. Canonical: a chain of fma for each segment of
// k, the segments' sums added in ascending order: by one work-item (WHOLE); by a launch for each segment, which goes
// on with the `sums` that the launches before it left (IN_TURN), so that a panel of one segment stays in the cache;
// or by add_segments.cl, after work-items have shared out the segments and stored the sum of each (SPLIT). Source:
// Goto, van de Geijn: "Anatomy of high-performance matrix multiplication" (2008).
//
// Options: REAL; W elements of a vector; MR, NV; X, LOAD_X: stored operands; Z, LOAD_Z, STORE_Z: stored results;
// A_PACKED: A is panels [k][MR] of REAL, else it is read by strides. B_STAGED: B is copied by strides to private
// memory, a few steps of k at a time; else its rows are read where they are, and n >= NR, or, if b_packed, panels
// [k][NR].
#pragma OPENCL FP_CONTRACT OFF

#define GLUE_(x, y) x##y
#define GLUE(x, y) GLUE_(x, y)
#define VECTOR GLUE(REAL, W)
#define VLOAD GLUE(vload, W)
#define VSTORE GLUE(vstore, W)
#define NR (NV * W)
#define STAGE 32
#define WHOLE 0
#define SPLIT 1
#define IN_TURN 2

#ifdef A_PACKED
#define A_TYPE REAL
#define A_ELEMENT(r) a[r]
#define A_NEXT MR
#else
#define A_TYPE X
#define A_ELEMENT(r) LOAD_X(a[row[r]])
#define A_NEXT a_col
#endif
#ifdef B_STAGED
#define B_TYPE X
#else
#define B_TYPE REAL
#endif

// Copies 4 lines of 4 elements, transposed. Its loads, shuffles and stores are of vectors.
#define VECTOR4 GLUE(REAL, 4)
#define LINE(from) (VECTOR4)(LOAD_X((from)[0]), LOAD_X((from)[1]), LOAD_X((from)[2]), LOAD_X((from)[3]))
#define TRANSPOSE(from, step, to, to_step)                                                          \
  {                                                                                                 \
    const VECTOR4 r0 = LINE(from), r1 = LINE(from + step), r2 = LINE(from + 2 * step), r3 = LINE(from + 3 * step); \
    vstore4((VECTOR4)(r0.s0, r1.s0, r2.s0, r3.s0), 0, to);                                          \
    vstore4((VECTOR4)(r0.s1, r1.s1, r2.s1, r3.s1), 0, to + to_step);                                \
    vstore4((VECTOR4)(r0.s2, r1.s2, r2.s2, r3.s2), 0, to + 2 * to_step);                            \
    vstore4((VECTOR4)(r0.s3, r1.s3, r2.s3, r3.s3), 0, to + 3 * to_step);                            \
  }

// One step of k: an outer product of a column of A and the vectors at `from`.
#define STEP(from)                                                              \
  {                                                                             \
    VECTOR line[NV];                                                            \
    _Pragma("unroll") for (int v = 0; v < NV; ++v) line[v] = VLOAD(v, from);    \
    _Pragma("unroll") for (int r = 0; r < MR; ++r) {                            \
      const VECTOR x = (VECTOR)(A_ELEMENT(r));                                  \
      _Pragma("unroll") for (int v = 0; v < NV; ++v) chain[r][v] = fma(x, line[v], chain[r][v]); \
    }                                                                           \
    a += A_NEXT;                                                                \
  }

// Dimension 2 counts the products of a batch, or under SPLIT the segments.
__kernel void register_tiles(const long m, const long n, const long k, __global const A_TYPE* a, const long a_at,
                             const long a_row, const long a_col, const long a_step, __global const B_TYPE* b,
                             const long b_at, const long b_row, const long b_col, const long b_step, __global Z* c,
                             const long c_at, const long c_row, const long c_col, const long c_step, const REAL alpha,
                             const REAL beta, const int b_packed, const int way, const long turn, __global REAL* sums,
                             const long sums_at) {
  const long i0 = get_global_id(0) * MR, panel = get_global_id(1), product = get_global_id(2);
  if (i0 >= m || panel * NR >= n) return;
  const long begin = way == WHOLE ? 0 : SEGMENT * (way == SPLIT ? product : turn);
  const long end = way != WHOLE && begin + SEGMENT < k ? begin + SEGMENT : k;
#ifdef A_PACKED
  a += a_at + product * a_step + i0 * k + begin * MR;
#else
  long row[MR];
#pragma unroll
  for (int r = 0; r < MR; ++r) row[r] = (i0 + r < m ? r : m - 1 - i0) * a_row; // rows beyond the edge are not stored
  a += a_at + product * a_step + i0 * a_row + begin * a_col;
#endif
  long j0 = panel * NR;
  b += b_at + product * b_step;
  c += c_at + product * c_step + i0 * c_row;
#ifdef B_STAGED
  const int columns = (int)(n - j0 < NR ? n - j0 : NR);
  REAL staged[STAGE * NR];
  for (int e = 0; e < STAGE * NR; ++e) staged[e] = 0;
  b += j0 * b_col + begin * b_row;
#else
  // The last panel begins in the one before it, which stores what both compute.
  if (!b_packed && j0 + NR > n) j0 = n - NR;
  b += b_packed ? j0 * k + begin * NR : j0 + begin * b_row;
#endif

  const bool goes_on = way == IN_TURN && turn > 0;
  sums += sums_at + (panel * get_global_size(0) + get_global_id(0)) * (MR * NR);
  VECTOR total[MR][NV];
#pragma unroll
  for (int r = 0; r < MR; ++r)
#pragma unroll
    for (int v = 0; v < NV; ++v) total[r][v] = goes_on ? VLOAD(r * NV + v, sums) : (VECTOR)(0);
  for (long first = begin; first < end; first += SEGMENT) {
    const int steps = (int)(end - first < SEGMENT ? end - first : SEGMENT);
    VECTOR chain[MR][NV];
#pragma unroll
    for (int r = 0; r < MR; ++r)
#pragma unroll
      for (int v = 0; v < NV; ++v) chain[r][v] = (VECTOR)(0);
#ifdef B_STAGED
    for (int p0 = 0; p0 < steps; p0 += STAGE) {
      const int depth = steps - p0 < STAGE ? steps - p0 : STAGE;
      if (b_row == 1 && columns == NR && depth == STAGE)
        for (int j = 0; j < NR; j += 4)
          for (int q = 0; q < STAGE; q += 4) TRANSPOSE(b + j * b_col + q, b_col, staged + q * NR + j, NR)
      else if (b_row == 1)
        for (int j = 0; j < columns; ++j)
          for (int p = 0; p < depth; ++p) staged[p * NR + j] = LOAD_X(b[j * b_col + p]);
      else
        for (int p = 0; p < depth; ++p)
          for (int j = 0; j < columns; ++j) staged[p * NR + j] = LOAD_X(b[p * b_row + j * b_col]);
      b += STAGE * b_row;
      for (int p = 0; p < depth; ++p) STEP(staged + p * NR)
    }
#else
    for (int p = 0; p < steps; ++p, b += b_row) STEP(b)
#endif
#pragma unroll
    for (int r = 0; r < MR; ++r)
#pragma unroll
      for (int v = 0; v < NV; ++v) total[r][v] = first == begin && !goes_on ? chain[r][v] : total[r][v] + chain[r][v];
  }

  if (way == IN_TURN && end < k) {
#pragma unroll
    for (int r = 0; r < MR; ++r)
#pragma unroll
      for (int v = 0; v < NV; ++v) VSTORE(total[r][v], r * NV + v, sums);
    return;
  }
#pragma unroll
  for (int r = 0; r < MR; ++r) {
    if (i0 + r >= m) break;
#pragma unroll
    for (int v = 0; v < NV; ++v) {
      const long j = j0 + v * W;
      VECTOR x = alpha * total[r][v];
      __global Z* to = c + r * c_row + j * c_col;
#ifdef VECTOR_RESULTS
      if (c_col == 1 && j >= panel * NR && j + W <= n) {
        if (beta != 0) x = fma((VECTOR)(beta), VLOAD(0, to), x);
        VSTORE(x, 0, to);
        continue;
      }
#endif
      REAL lane[W];
      VSTORE(x, 0, lane);
      for (int e = 0; e < W; ++e)
        if (j + e >= panel * NR && j + e < n)
          to[e * c_col] = STORE_Z(beta == 0 ? lane[e] : fma(beta, LOAD_Z(to[e * c_col]), lane[e]));
    }
  }
}
