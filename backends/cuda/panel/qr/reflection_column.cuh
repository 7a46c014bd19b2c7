#pragma once

/// A column of a panel of QR, as one warp of a block of threads has it, in registers.

#include <tessera/backend/kernel.hpp>
#include <tessera/types.hpp>

#include "cuda/panel/pivot.cuh"
#include "reflection_number.cuh"

namespace tessera::cuda {

/// A number's exponent and some bits below it, in the order of magnitudes: 0 of zeros alone, Inf and NaN above all. Of
/// a complex one it is the larger part's.
__device__ inline unsigned key_of(float x) { return __float_as_uint(x) & 0x7fffffff; }
__device__ inline unsigned key_of(double x) {
  return (static_cast<unsigned>(__double2hiint(x)) & 0x7fffffff) | static_cast<unsigned>(__double2loint(x) != 0);
}
template <class T>
__device__ unsigned key_of(const Complex<T>& x) {
  const unsigned re = key_of(x.re), im = key_of(x.im);
  return re > im ? re : im;
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
template <class T>
__device__ Complex<T> fold_lanes(const Complex<T>& sum) {
  return {fold_lanes(sum.re), fold_lanes(sum.im)};
}

/// The numbers of a column in the rows of one block: a chunk of 1024 real or 512 complex ones, and the 32 after them.
/// Chunks of sums begin on the diagonal, in row j < 32 of the panel, so that the block's chunk goes from its row j to
/// row j + chunk − 1: of the lanes before lane j it begins with their second number. The 32 rows that two blocks have
/// are computed by both.
template <class T>
class WarpColumn {
  using Part = PartOf<T>;

 public:
  static constexpr int chunk = static_cast<int>(canonical_segment) / parts_of<T>, rows = chunk + 32, each = rows / 32;

  /// A block with `left` rows of the panel, from its first one on, which may be above `rows` or below 0.
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
  __device__ T row(int r) const { return number_of_lane(x_[0], r, 32); }
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
  __device__ Part sum_of_squares(int j, Part scale) const {
    return sum<Part>(
        j, [scale](T x, int) { return with_scale(x, scale); },
        [](T, T y, Part chain) { return add_squares(y, chain); });
  }
  /// Returns the chunk's sum of products with v, which is conjugated.
  __device__ T inner_product(int j, const T* v) const {
    return sum<T>(
        j, [v](T, int row) { return conjugate_of(v[row]); },
        [](T x, T y, T chain) { return multiply_add(y, x, chain); });
  }

  /// Replaces the numbers from row j of the panel on by beta and, with `is_reflected`, by multiples of the ones below,
  /// and writes the vector of the reflection to v.
  __device__ void become_reflection(int j, bool is_reflected, Part scale, T factor, T beta, T* v) {
#pragma unroll
    for (int t = 0; t < each; ++t) {
      T of_v = t < count_ ? (is_reflected ? multiplied(factor, with_scale(x_[t], scale)) : x_[t]) : T{};
      T packed = of_v;
      if (t == 0 && is_first_ && lane_ <= j) {
        of_v = lane_ == j ? real_number<T>(1) : T{};
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
      if (t < count_ && !(t == 0 && is_first_ && lane_ < j)) x_[t] = multiply_add(w, v[t * 32 + lane_], x_[t]);
  }

 private:
  /// Sums, a chain for each lane, of rows that there are alone: add(number, factor(number, row), chain) goes on with
  /// it.
  template <class Sum, class Factor, class Add>
  __device__ Sum sum(int j, const Factor& factor, const Add& add) const {
    const int begin = lane_ < j ? 1 : 0;
    Sum chain{};
#pragma unroll
    for (int i = 0; i + 1 < each; ++i) {
      const T number = begin == 0 ? x_[i] : x_[i + 1];
      const T other = factor(number, (i + begin) * 32 + lane_);
      if (i + begin < count_) chain = add(number, other, chain);
    }
    return fold_lanes(chain);
  }

  int lane_, count_;
  bool is_first_;
  T x_[each];
};

} // namespace tessera::cuda
