#pragma once

/// How a consumer warp reads its 16 rows of the large operand from a stage, scales them and splits them into fragments
/// for the matrix units.
///
/// A lane of the matrix units passes the rows lane / 4 and lane / 4 + 8 of its warp, and of each 16 k the steps t, t +
/// 1, t + 8 and t + 9, where t is lane % 4 · 2. Which rows of the stage stand for these rows is chosen so that reads of
/// 8 bytes meet no bank twice: 128-byte lines of a stage have their 16-byte chunk c at c ^ line % 8.

#include "cuda/gemm/common/emulated_fp16x3/chunk_scales.cuh"
#include "unpacked_work.cuh"

namespace tessera::cuda::wgmma::unpacked {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// A lane's terms of two rows and the 32 k of a stage: one term, or two.
template <int terms>
struct Fragments {
  unsigned high[8], low[8];

  /// Splits elements at two neighbouring steps of k.
  __device__ void split(int at, float x, float y, float scale) { split_pair(x, y, scale, high[at], low[at]); }
};
template <>
struct Fragments<1> {
  unsigned high[8];

  __device__ void split(int at, float x, float y, float scale) { high[at] = rounded_pair(x * scale, y * scale); }
};

/// The rows of a lane of a consumer warp, in a tile and in its stages.
template <Major major>
class LaneRows;

/// Of an operand that is stored along k, a line is a row. Row g of the matrix units, of 8, is line 2·(g % 4) + g / 4.
template <>
class LaneRows<Major::K> {
 public:
  __device__ LaneRows(int warp, int lane) {
    const int g = lane / 4, t = lane % 4, line = g % 4 * 2 + g / 4;
    row_ = warp * 16 + line;
#pragma unroll
    for (int q = 0; q < 4; ++q) pair_[q] = row_ * 128 + ((q * 2 + t / 2) ^ line) * 16 + t % 2 * 8;
    chunk_ = row_ * 128 + ((t + g % 2 * 4) ^ line) * 16;
  }
  /// Returns the place of one of the two rows in the tile.
  __device__ int row(int which) const { return row_ + which * 8; }
  /// Extends the largest magnitudes of the rows to this lane's part of a stage.
  __device__ void find_largest(const char* stage, float (&largest)[2]) const {
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const auto x = *reinterpret_cast<const float4*>(stage + (chunk_ ^ half * 64) + r * 1024);
        largest[r] = larger(larger(larger(larger(largest[r], x.x), x.y), x.z), x.w);
      }
  }
  template <int terms>
  __device__ void load(const char* stage, const float (&scale)[2], Fragments<terms>& to) const {
#pragma unroll
    for (int q = 0; q < 4; ++q)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const auto x = *reinterpret_cast<const float2*>(stage + pair_[q] + r * 1024);
        to.split(q * 2 + r, x.x, x.y, scale[r]);
      }
  }

 private:
  int row_;
  int pair_[4]; ///< bytes to two neighbouring k, for each 8 k of the stage
  int chunk_;   ///< bytes to 4 k of the half of the line that is searched first
};

/// Of an operand that is stored along its rows, a line has 32 rows of one k. Two neighbours are read at once, and stand
/// for the rows g and g + 8 of the matrix units.
template <>
class LaneRows<Major::MN> {
 public:
  __device__ LaneRows(int warp, int lane) {
    const int g = lane / 4, line = lane % 4 * 2, chunk = warp % 2 * 4 + g / 2;
    row_ = warp * 16 + g * 2;
    const int box = warp / 2 * 32 * 128 + g % 2 * 8;
#pragma unroll
    for (int next = 0; next < 2; ++next) pair_[next] = box + (line + next) * 128 + (chunk ^ (line + next)) * 16;
  }
  __device__ int row(int which) const { return row_ + which; }
  __device__ void find_largest(const char* stage, float (&largest)[2]) const {
#pragma unroll
    for (int q = 0; q < 4; ++q)
#pragma unroll
      for (int next = 0; next < 2; ++next) {
        const auto x = *reinterpret_cast<const float2*>(stage + pair_[next] + q * 1024);
        largest[0] = larger(largest[0], x.x);
        largest[1] = larger(largest[1], x.y);
      }
  }
  template <int terms>
  __device__ void load(const char* stage, const float (&scale)[2], Fragments<terms>& to) const {
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const auto x = *reinterpret_cast<const float2*>(stage + pair_[0] + q * 1024);
      const auto y = *reinterpret_cast<const float2*>(stage + pair_[1] + q * 1024);
      to.split(q * 2, x.x, y.x, scale[0]);
      to.split(q * 2 + 1, x.y, y.y, scale[1]);
    }
  }

 private:
  int row_;
  int pair_[2]; ///< bytes to two neighbouring rows, for two neighbouring k
};

#endif

} // namespace tessera::cuda::wgmma::unpacked
