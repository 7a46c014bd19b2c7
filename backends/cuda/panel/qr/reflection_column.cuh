#pragma once

/// A column of a panel of QR, as one warp of a block of threads has it, in registers.

#include <tessera/types.hpp>

#include "cuda/panel/pivot.cuh"

namespace tessera::cuda {

/// A number's exponent and some bits below it, in the order of magnitudes: 0 of zeros alone, Inf and NaN above all.
__device__ inline unsigned key_of(float x) { return __float_as_uint(x) & 0x7fffffff; }
__device__ inline unsigned key_of(double x) {
  return (static_cast<unsigned>(__double2hiint(x)) & 0x7fffffff) | static_cast<unsigned>(__double2loint(x) != 0);
}

/// Returns 2^−e, where 2^e is the power of two at or below the numbers of this key, and both are normal numbers.
template <class T>
__device__ T inverse_power(unsigned key) {
  constexpr int digits = sizeof(T) == 4 ? 23 : 20; // of a key, below the exponent
  constexpr unsigned highest = sizeof(T) == 4 ? 253 : 2045;
  unsigned field = key >> digits;
  field = field < 1 ? 1 : field > highest ? highest : field;
  const auto bits = static_cast<int>((highest + 1 - field) << digits);
  if constexpr (sizeof(T) == 4)
    return __int_as_float(bits);
  else
    return __hiloint2double(bits, 0);
}

/// Adds the lanes of a chunk, in the contract's order: of lanes l and l + 16, l and l + 8 … that l is counted from
/// another lane changes no pair.
template <class T>
__device__ T fold_lanes(T sum) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
  return sum;
}

/// The numbers of a column in the rows of one block: 1024, and the 32 after them. Chunks of sums begin on the diagonal,
/// in row j < 32 of the panel, so that the block's chunk goes from its row j to row j + 1023: of the lanes before lane
/// j it begins with their second number. The 32 rows that two blocks have are computed by both.
template <class T>
class WarpColumn {
 public:
  static constexpr int chunk = 1024, rows = chunk + 32, each = rows / 32;

  /// A block with `left` rows of the panel, from its first one on, which may be above 1056 or below 0.
  __device__ WarpColumn(bool is_first, Index left) : lane_(static_cast<int>(threadIdx.x) % 32), is_first_(is_first) {
    const Index count = (left - lane_ + 31) / 32;
    count_ = left <= lane_ ? 0 : count < each ? static_cast<int>(count) : each;
  }

  /// Reads the column, which has zeros after the panel's rows.
  __device__ void load(const T* from) {
#pragma unroll
    for (int t = 0; t < each; ++t) x_[t] = from[t * 32 + lane_];
  }
  /// Returns the number in row r < 32 of the block, to all lanes.
  __device__ T row(int r) const { return __shfl_sync(0xffffffff, x_[0], r); }
  /// Returns the number in this lane's first row.
  __device__ T first_row() const { return x_[0]; }

  /// Returns the largest key below row j of the panel.
  __device__ unsigned largest_below(int j) const {
    unsigned largest = 0;
#pragma unroll
    for (int t = 0; t < each; ++t) {
      const unsigned key = t == 0 && is_first_ && lane_ <= j ? 0 : key_of(x_[t]);
      largest = key > largest ? key : largest;
    }
    return largest_of_warp(largest);
  }
  /// Returns the chunk's sum of squares, of numbers that are multiplied by `scale` before.
  __device__ T sum_of_squares(int j, T scale) const {
    return sum(j, [scale](T x, int) {
      const T y = x * scale;
      return Factors{y, y};
    });
  }
  /// Returns the chunk's sum of products with v.
  __device__ T inner_product(int j, const T* v) const {
    return sum(j, [v](T x, int row) { return Factors{v[row], x}; });
  }

  /// Replaces the numbers from row j of the panel on by beta and, with `is_reflected`, by multiples of the ones below,
  /// and writes the vector of the reflection to v.
  __device__ void become_reflection(int j, bool is_reflected, T scale, T factor, T beta, T* v) {
#pragma unroll
    for (int t = 0; t < each; ++t) {
      T of_v = t < count_ ? (is_reflected ? x_[t] * scale * factor : x_[t]) : T(0);
      T packed = of_v;
      if (t == 0 && is_first_ && lane_ <= j) {
        of_v = lane_ == j ? T(1) : T(0);
        packed = lane_ == j ? beta : x_[t];
      }
      x_[t] = packed;
      v[t * 32 + lane_] = of_v;
    }
  }
  /// Goes on with w·v from row j of the panel on.
  __device__ void add(int j, T w, const T* v) {
#pragma unroll
    for (int t = 0; t < each; ++t)
      if (t < count_ && !(t == 0 && is_first_ && lane_ < j)) x_[t] = fma(w, v[t * 32 + lane_], x_[t]);
  }

 private:
  struct Factors {
    T x, y;
  };
  /// Sums of terms(number, row): a chain for each lane, of rows that there are alone.
  template <class Terms>
  __device__ T sum(int j, const Terms& terms) const {
    const int begin = lane_ < j ? 1 : 0;
    T chain = 0;
#pragma unroll
    for (int i = 0; i + 1 < each; ++i) {
      const T number = begin == 0 ? x_[i] : x_[i + 1];
      const Factors factors = terms(number, (i + begin) * 32 + lane_);
      if (i + begin < count_) chain = fma(factors.x, factors.y, chain);
    }
    return fold_lanes(chain);
  }

  int lane_, count_;
  bool is_first_;
  T x_[each];
};

} // namespace tessera::cuda
