// canonical: the reduction that has the same bits on every backend. A work-group of 32 takes a chunk of 1024 elements:
// lane l joins elements l, l+32, ..., in ascending order, and the lanes fold through local memory. The kernel reduces
// the chunks' results in the same way until one is left. Source: Tessera (docs/contract.md, "Sums and scans").
//
// WHOLE: the elements are whole numbers. RESULTS: x holds results of chunks. LARGEST, SQUARES: what is computed.
#pragma OPENCL FP_CONTRACT OFF
#define CHUNK 1024
#define LANES 32

#ifdef WHOLE
#define VALUE ulong
#define JOIN add_whole
#else
#define VALUE double
#ifdef LARGEST
#define JOIN larger
#else
#define JOIN(x, y) ((x) + (y))
#endif
#endif

#if defined(RESULTS)
#define TERM(x) (x)
#elif defined(WHOLE)
#define TERM(x) whole_square(x)
#elif defined(SQUARES)
#define TERM(x) ((double)LOAD_X(x) * (double)LOAD_X(x))
#else
#define TERM(x) fabs((double)LOAD_X(x))
#endif

#ifndef WHOLE
static inline double larger(const double x, const double y) { return x > y || isnan(x) ? x : y; }
#endif
// Bit 63 says that a sum has reached 2^63, and is never taken back.
static inline ulong add_whole(const ulong x, const ulong y) { return (x + y) | ((x | y) & 1ul << 63); }
static inline ulong whole_square(const int x) { return (ulong)((long)x * x); }

__kernel void fold_chunks(const long rows, const long cols, __global const X* x, const long x_at, const long ldx,
                          __global VALUE* results, const long results_at) {
  __local VALUE lanes[LANES];
  const long chunk = get_group_id(0), first = chunk * CHUNK, left = rows * cols - first;
  const int lane = get_local_id(0), count = (int)(left < CHUNK ? left : CHUNK);
  VALUE sum = 0;
  if (lane < count) {
    long row = (first + lane) / cols, col = (first + lane) % cols;
    for (int e = lane; e < count; e += LANES) {
      sum = JOIN(sum, TERM(x[x_at + row * ldx + col]));
      for (col += LANES; col >= cols && row < rows; col -= cols) ++row;
    }
  }
  lanes[lane] = sum;
  for (int width = LANES / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < width) lanes[lane] = JOIN(lanes[lane], lanes[lane + width]);
  }
  if (lane == 0) results[results_at + chunk] = lanes[0];
}
