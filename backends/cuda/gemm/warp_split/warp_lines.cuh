#pragma once

/// A warp's 16 rows of op(A), or 16 columns of op(B), of one chunk of k: read from memory into registers, scaled, and
/// split into fragments for the matrix units. "Lines" are rows of op(A) and columns of op(B) alike.
///
/// A lane has two lines, and four neighbouring k of each 16. The matrix units take the k of a step in any order, if
/// it is one order for both operands. Where elements of a line are neighbours in memory, a lane reads four of them at
/// once; where lines are neighbours, it has two neighbouring lines, and reads one element of both at once.

#include "cuda/gemm/common/emulated_fp16x3/chunk_scales.cuh"
#include "cuda/gemm/common/tile_loader.cuh"

namespace tessera::cuda::warp_split {

constexpr int steps = wgmma::chunk_k / 16; ///< of the matrix units in a chunk

/// An operand, line by line as the product needs it.
struct StridedLines {
  const float* data;
  Index line_stride, k_stride;
  int lines, k;
  bool vectors; ///< addresses and strides let a lane read 16 bytes along k, or 8 bytes across
};

/// Returns which of the tile's lines stands for line i (0 or 1) of the lanes with lane / 4 == g.
template <Along along>
constexpr __device__ int line_of(int i, int g) {
  return along == Along::K ? g + 8 * i : 2 * g + i;
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

template <Along along>
class WarpLines {
 public:
  /// The warp's lines begin at `first`.
  __device__ WarpLines(const StridedLines& x, Index first, int lane)
      : k_stride_(along == Along::K ? 1 : x.k_stride), k_(x.k), lane_k_(lane % 4 * 4), vectors_(x.vectors) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const Index line = first + line_of<along>(i, lane / 4);
      inside_[i] = line < x.lines;
      at_[i] = x.data + line * x.line_stride + lane_k_ * k_stride_;
    }
  }

  /// Reads the chunk that begins at k. What is outside of the operand is zero.
  __device__ void read(int k) {
    const int left = k_ - k - lane_k_; // k from the lane's first one on
    const bool whole = k + wgmma::chunk_k <= k_;
    if constexpr (along == Along::K) {
      // Where k ends at a multiple of four, a lane's four k are there, or none of them is.
      if (vectors_ && k_ % 4 == 0) return whole ? read_along<true>(k, left) : read_along<false>(k, left);
    } else {
      if (vectors_ && inside_[1]) return whole ? read_across<true>(k, left) : read_across<false>(k, left);
    }
    whole ? read_singly<true>(k, left) : read_singly<false>(k, left);
  }

  /// Finds the scales of the lines in this chunk. All lanes call it.
  __device__ void scale() {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      float largest = 0;
#pragma unroll
      for (int s = 0; s < steps; ++s)
#pragma unroll
        for (int e = 0; e < 4; ++e) largest = wgmma::larger(largest, value_[i][s][e]);
      largest = wgmma::larger(largest, __shfl_xor_sync(~0U, largest, 1));
      largest = wgmma::larger(largest, __shfl_xor_sync(~0U, largest, 2));
      const wgmma::ChunkScale chunk(__float_as_uint(largest));
      scale_[i] = chunk.scale;
      factor_[i] = chunk.factor;
    }
  }
  /// Returns what undoes the scale of line i of this lane.
  __device__ float factor(int i) const { return factor_[i]; }

  /// Splits the elements of a step: registers 2·i and 2·i + 1 are two k each of line i.
  __device__ void split(int step, unsigned (&high)[4], unsigned (&low)[4]) const {
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int pair = 0; pair < 2; ++pair)
        wgmma::split_pair(value_[i][step][pair * 2], value_[i][step][pair * 2 + 1], scale_[i], high[i * 2 + pair],
                          low[i * 2 + pair]);
  }
  /// Rounds the elements of a step, in the registers that split() has for the larger terms.
  __device__ void round(int step, unsigned (&rounded)[4]) const {
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int pair = 0; pair < 2; ++pair)
        rounded[i * 2 + pair] =
            wgmma::rounded_pair(value_[i][step][pair * 2] * scale_[i], value_[i][step][pair * 2 + 1] * scale_[i]);
  }

 private:
  template <bool whole>
  __device__ void read_along(int k, int left) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const auto* from = reinterpret_cast<const float4*>(at_[i] + k);
#pragma unroll
      for (int s = 0; s < steps; ++s) {
        float4 four{};
        if (inside_[i] && (whole || s * 16 < left)) four = __ldg(from + s * 4);
        value_[i][s][0] = four.x;
        value_[i][s][1] = four.y;
        value_[i][s][2] = four.z;
        value_[i][s][3] = four.w;
      }
    }
  }
  template <bool whole>
  __device__ void read_across(int k, int left) {
    each_k(at_[0] + k * k_stride_, [&](const float* from, int s, int e) {
      float2 two{};
      if (whole || s * 16 + e < left) two = __ldg(reinterpret_cast<const float2*>(from));
      value_[0][s][e] = two.x;
      value_[1][s][e] = two.y;
    });
  }
  template <bool whole>
  __device__ void read_singly(int k, int left) {
#pragma unroll
    for (int i = 0; i < 2; ++i)
      each_k(at_[i] + k * k_stride_, [&](const float* from, int s, int e) {
        value_[i][s][e] = inside_[i] && (whole || s * 16 + e < left) ? __ldg(from) : 0.0f;
      });
  }
  /// Calls f with the place of each k that the lane has, and its numbers.
  template <class F>
  __device__ void each_k(const float* from, F f) const {
    if constexpr (along == Along::K) {
#pragma unroll
      for (int s = 0; s < steps; ++s)
#pragma unroll
        for (int e = 0; e < 4; ++e) f(from + s * 16 + e, s, e);
    } else {
      const Index step = 16 * k_stride_;
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const float* here = from + e * k_stride_;
#pragma unroll
        for (int s = 0; s < steps; ++s, here += step) f(here, s, e);
      }
    }
  }

  const float* at_[2]; ///< the lane's first element of each line
  const Index k_stride_;
  const int k_, lane_k_;
  const bool vectors_;
  bool inside_[2];
  float value_[2][steps][4];
  float scale_[2], factor_[2];
};

#endif

} // namespace tessera::cuda::warp_split
