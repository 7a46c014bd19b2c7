#pragma once

/// Strict sums (docs/contract.md) in device code, for one result a thread and for a tile of results.
///
/// A kernel walks k in tiles whose depth divides the segment of 1024. It calls begin(p) before it uses step p, for
/// every multiple p of that depth, and then extends the chains. It may run steps past the end of k if it takes −0 from
/// A and +0 from B for them: their product is −0, and s + −0 is s for every s, zeros of both signs included.

#include "operands.cuh"

namespace tessera::cuda {

/// The values that shared memory holds where a tile reaches over an operand's edge; the first comment of this file says
/// why.
template <class T>
inline constexpr T a_padding = T(-0.0);
template <class T>
inline constexpr T b_padding = T(0.0);

/// The sum of one result. The kernel extends the chain itself.
template <class T>
class CanonicalSum {
 public:
  T chain{0}; ///< of the current segment: chain = fused(a, b, chain) for each step

  __device__ void begin(Index p) {
    if (p == 0 || p % canonical_segment != 0) return;
    total_ = value();
    chain = T{0};
    has_total_ = true;
  }
  __device__ T value() const { return has_total_ ? total_ + chain : chain; }

 private:
  T total_{0};
  bool has_total_ = false;
};

/// The totals of the segments that a thread has finished, for k over 1024. They are used once for each segment, so they
/// belong in local memory and not in registers: the index offset is 0 for every k, but the compiler cannot know that.
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
  /// Adds the outer product of a column of A and a row of B.
  __device__ void extend(const T (&a)[rows], const T (&b)[cols]) {
#pragma unroll
    for (int i = 0; i < rows; ++i)
#pragma unroll
      for (int j = 0; j < cols; ++j) extend(i, j, a[i], b[j]);
  }
  /// Completes the sums. The kernel calls it once, after the last step; from then on value() is the whole sum.
  __device__ void finish(Index k, Totals& totals) {
    if (k > canonical_segment) add(totals);
  }
  __device__ T value(int i, int j) const { return sum_[i][j]; }
  /// Gives access to a chain, for matrix instructions, which extend it themselves.
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

/// Copies a thread's results to the local memory of its totals, where a loop can index them, and returns their address.
template <class Sums>
__device__ auto held_in(typename Sums::Totals& totals, const Sums& sums) {
  auto* const held = totals.data();
#pragma unroll
  for (int e = 0; e < Sums::count; ++e) held[e] = sums.at(e);
  return held;
}

/// Stores `count` held results through the epilogue, `together` vectors of `width` results at a time. Vector v consists
/// of `width` results from number v·width on, and place(v) is where in C its first one belongs.
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

} // namespace tessera::cuda
