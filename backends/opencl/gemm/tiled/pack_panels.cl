// pack_panels: copies op(A) or op(B) to panels [k][width], in the order in which a multiplying kernel reads them.
//
// An operand is `outer` lines of k elements: rows of op(A), columns of op(B). So a transposed operand differs in its
// strides alone, and an operand of 16 bits in how it is loaded: kernels that multiply panels have one form. The last
// panel is filled up with zeros; its sums are not stored. An element is read and written once. Source: Goto, van de
// Geijn: "Anatomy of high-performance matrix multiplication" (2008).
//
// A work-item copies `depth` steps of k of `panels` panels: few steps of many panels where steps lie along memory, so
// that it reads on in the lines that it has begun, and many steps of one panel otherwise. The panels' width is no
// option, so that one program packs both operands. Options: REAL; X, LOAD_X: stored elements.
#pragma OPENCL FP_CONTRACT OFF

// Copies 4 lines of 4 elements, transposed. Its loads, shuffles and stores are of vectors.
#define GLUE_(x, y) x##y
#define GLUE(x, y) GLUE_(x, y)
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

__kernel void pack_panels(const long outer, const long k, __global const X* x, const long x_at, const long x_outer,
                          const long x_k, __global REAL* to, const long to_at, const int width, const long panels,
                          const long depth) {
  const long begin = get_global_id(1) * depth, end = begin + depth < k ? begin + depth : k;
  const long last = (get_global_id(0) + 1) * panels;
  x += x_at;
  to += to_at;
  for (long panel = get_global_id(0) * panels; panel < last && panel * width < outer; ++panel) {
    const int lines = (int)(outer - panel * width < width ? outer - panel * width : width);
    __global const X* from = x + panel * width * x_outer;
    __global REAL* packed = to + panel * width * k;
    if (lines < width) {
      for (long p = begin; p < end; ++p)
        for (int r = 0; r < width; ++r) packed[p * width + r] = r < lines ? LOAD_X(from[p * x_k + r * x_outer]) : 0;
    } else if (x_k != 1) {
      for (long p = begin; p < end; ++p)
        for (int r = 0; r < width; ++r) packed[p * width + r] = LOAD_X(from[p * x_k + r]);
    } else {
      long p = begin;
      for (; p + 4 <= end; p += 4) {
        for (int r = 0; r + 4 <= width; r += 4)
          TRANSPOSE(from + p + r * x_outer, x_outer, packed + p * width + r, width)
        for (int r = width / 4 * 4; r < width; ++r)
          for (int q = 0; q < 4; ++q) packed[(p + q) * width + r] = LOAD_X(from[p + q + r * x_outer]);
      }
      for (; p < end; ++p)
        for (int r = 0; r < width; ++r) packed[p * width + r] = LOAD_X(from[p + r * x_outer]);
    }
  }
}
