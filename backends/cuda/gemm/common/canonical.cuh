#pragma once

/// The canonical summation (gemm.hpp) in device code, for one result a thread and for a tile of results.
///
/// A kernel walks k in tiles that divide the segment of 1024, says begin(p) before it uses step p, for p a multiple of
/// its tile, and extends the chains. Steps past the end of k may be run too, with −0 from A and +0 from B: their
/// product is −0, and s + −0 is s for every s, zeros of both signs included.

#include "operands.cuh"

namespace tessera::cuda {

/// What stands in shared memory where a tile reaches over an operand's edge: see above.
template <class T>
inline constexpr T a_padding = T(-0.0);
template <class T>
inline constexpr T b_padding = T(0.0);

/// One result.
template <class T>
class CanonicalSum {
 public:
  __device__ void begin(Index p) {
    if (p == 0 || p % canonical_segment != 0) return;
    total_ = value();
    segment_ = T{0};
    has_total_ = true;
  }
  __device__ void extend(T a, T b) { segment_ = fused(a, b, segment_); }
  __device__ T value() const { return has_total_ ? total_ + segment_ : segment_; }

 private:
  T segment_{0};
  T total_{0};
  bool has_total_ = false;
};

/// The totals of the segments that a thread has finished, for k over 1024. They are used once per segment, so they
/// belong in local memory, not in registers: the index offset is 0 for every k, but the compiler cannot know that.
template <class T, int count>
class SegmentTotals {
 public:
  __device__ explicit SegmentTotals(Index k) : offset_(k >> 62) {}
  __device__ T* data() { return total_ + offset_; }

 private:
  Index offset_;
  T total_[count];
};

/// rows×cols results of one thread, in registers.
template <class T, int rows, int cols>
class CanonicalTile {
 public:
  using Totals = SegmentTotals<T, rows * cols>;

  __device__ CanonicalTile() { clear(); }

  __device__ void begin(Index p, Totals& totals) {
    if (p == 0 || p % canonical_segment != 0) return;
    if (p > canonical_segment) add(totals);
    T* total = totals.data();
#pragma unroll
    for (int i = 0; i < rows; ++i)
#pragma unroll
      for (int j = 0; j < cols; ++j) total[i * cols + j] = sum_[i][j];
    clear();
  }
  __device__ void extend(int i, int j, T a, T b) { sum_[i][j] = fused(a, b, sum_[i][j]); }
  /// Outer product of a column of A and a row of B.
  __device__ void extend(const T (&a)[rows], const T (&b)[cols]) {
#pragma unroll
    for (int i = 0; i < rows; ++i)
#pragma unroll
      for (int j = 0; j < cols; ++j) extend(i, j, a[i], b[j]);
  }
  /// After the last step, once: from here on value() is the whole sum.
  __device__ void finish(Index k, Totals& totals) {
    if (k > canonical_segment) add(totals);
  }
  __device__ T value(int i, int j) const { return sum_[i][j]; }
  /// For instructions that extend chains themselves.
  __device__ T& at(int i, int j) { return sum_[i][j]; }
  static constexpr int count = rows * cols;
  __device__ T& at(int e) { return sum_[e / cols][e % cols]; }
  __device__ T at(int e) const { return sum_[e / cols][e % cols]; }

 private:
  __device__ void clear() {
#pragma unroll
    for (int i = 0; i < rows; ++i)
#pragma unroll
      for (int j = 0; j < cols; ++j) sum_[i][j] = T{0};
  }
  __device__ void add(Totals& totals) {
    const T* total = totals.data();
#pragma unroll
    for (int i = 0; i < rows; ++i)
#pragma unroll
      for (int j = 0; j < cols; ++j) sum_[i][j] = total[i * cols + j] + sum_[i][j];
  }

  T sum_[rows][cols];
};

/// A thread's results where its totals were, in local memory.
template <class Sums>
__device__ auto held_in(typename Sums::Totals& totals, const Sums& sums) {
  auto* const held = totals.data();
#pragma unroll
  for (int e = 0; e < Sums::count; ++e) held[e] = sums.at(e);
  return held;
}

/// Every step of `finish` for `count` held results: `together` vectors of `width` at a time, vector v being results
/// v·width and on, whose first is at place(v) in C.
template <int count, int together, int width, class T, class PlaceOf>
__device__ void store_held(const EpilogueStore<T>& epilogue, const T* held, PlaceOf place) {
  static_assert(count % (together * width) == 0);
#pragma unroll 1
  for (int first = 0; first < count / width; first += together) {
    T sum[together][width];
#pragma unroll
    for (int v = 0; v < together; ++v)
#pragma unroll
      for (int e = 0; e < width; ++e) sum[v][e] = held[(first + v) * width + e];
    epilogue.store([&](int v) { return place(first + v); }, sum);
  }
}

/// alpha·sum + beta·C for results whose rows are neighbours from i on and whose columns are j, j + apart, ….
template <int apart, class T, int rows, int cols>
__device__ void store_scattered(const StridedOperands<T>& x, Index i, Index j,
                                const CanonicalTile<T, rows, cols>& sums) {
#pragma unroll
  for (int r = 0; r < rows; ++r)
#pragma unroll
    for (int c = 0; c < cols; ++c)
      if (i + r < x.m && j + c * apart < x.n)
        store_result(x.c + (i + r) * x.ldc + j + c * apart, sums.value(r, c), x.alpha, x.beta);
}

} // namespace tessera::cuda
