#pragma once

/// The arithmetic of fp16 terms with scales, which all kernels of emulated_fp16x3 and scaled_fp16 share, so that they
/// give the same bits.
///
/// k is cut into chunks of 128. In each chunk, a row of op(A) is scaled by the power of two that brings its largest
/// magnitude to [2¹⁴, 2¹⁵), and so is a column of op(B). The matrix units add the products of a chunk: for each 16 k
/// first low·high, then high·low, then high·high; in scaled_fp16, whose elements have one term, high·high alone. The
/// sum of a chunk, times the two powers of two that undo the scales, is added to the sums of the chunks before it, with
/// one rounding. Chunks form segments (tessera/detail/emulated_segments.hpp), whose sums are added in ascending order.

#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/gemm/common/canonical.cuh"
#include "segments.hpp"

namespace tessera::cuda::wgmma {

constexpr unsigned infinity_bits = 0x7F800000u;

/// The scale of a chunk's row, 2^e, and the factor that undoes it, 2^−e; both are normal numbers.
struct ChunkScale {
  float scale, factor;

  /// Takes the bits of the largest magnitude. Magnitudes compare as their bits do, with NaN above all others. e is at
  /// most 126, which makes every f32 number a multiple of 2⁻²³: the terms then lose nothing to underflow. A chunk of
  /// zeros has the scale 1, and one with NaN or Inf has the factor NaN.
  __device__ explicit ChunkScale(unsigned largest_bits) {
    const int exponent = largest_bits == 0 ? 141 : max(static_cast<int>(largest_bits >> 23), 15);
    scale = __int_as_float((141 + 127 - exponent) << 23);
    factor = largest_bits >= infinity_bits ? __int_as_float(0x7FFFFFFF) : __int_as_float((exponent - 14) << 23);
  }
};

/// Returns the larger of x and |y|, or NaN if there is one.
__device__ inline float larger(float x, float y) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(fabsf(y)));
  return result;
}

/// Returns two scaled elements rounded to f16, side by side in a register of the matrix units.
__device__ inline unsigned rounded_pair(float x, float y) {
  const __half2 rounded = __floats2half2_rn(x, y);
  return reinterpret_cast<const unsigned&>(rounded);
}

/// Splits two elements into their terms, which lie side by side in registers of the matrix units.
__device__ inline void split_pair(float x, float y, float scale, unsigned& high, unsigned& low) {
  x *= scale;
  y *= scale;
  const __half2 rounded = __floats2half2_rn(x, y);
  const float2 value = __half22float2(rounded);
  const __half2 rest = __floats2half2_rn(x - value.x, y - value.y);
  high = reinterpret_cast<const unsigned&>(rounded);
  low = reinterpret_cast<const unsigned&>(rest);
}

/// Says whether the sum of any chunk times `factor` is exact. A sum is 0, or at least 2⁻⁴⁸ and under 2³⁸; NaN is
/// passed, since it only has to stay NaN.
__device__ inline bool is_exact(float factor) { return !(factor < 0x1p-78f || factor > 0x1p89f); }

/// Returns carried + sum·2^e with one rounding. If it overflows or underflows, it does so as if the sum had been exact.
__device__ inline float add_scaled(float carried, float sum, int e) {
  const int first = min(max(e, -78), 89);
  const int rest = min(max(e - first, -126), 127);
  return __fmaf_rn(sum * __int_as_float((first + 127) << 23), __int_as_float((rest + 127) << 23), carried);
}

/// Returns e of a factor 2^e.
__device__ inline int exponent(float factor) { return (__float_as_int(factor) >> 23) - 127; }

/// Returns carried + sum·row·column with one rounding, for the factors of a row and a column.
__device__ inline float add_with_factors(float carried, float sum, float row, float column) {
  if (is_exact(row)) [[likely]]
    return __fmaf_rn(sum * row, column, carried);
  return add_scaled(carried, sum, exponent(row) + exponent(column));
}

/// Clears the sums of a chunk before its products. The products could start from nothing instead; but ptxas would then
/// keep the registers between chunks, and complete_segment would have few of them for its reads.
template <int count>
__device__ void begin_chunk(float (&sum)[count]) {
#pragma unroll
  for (float& value : sum) value = 0;
}

/// Adds the sums of a chunk to the sums of the chunks before it. `rows` are the factors of the thread's two rows, and
/// `columns(e)` returns the ones of the two columns that results e to e + 3 lie in.
template <int count, class Columns>
__device__ void add_chunk(float (&carried)[count], const float (&sum)[count], const float (&rows)[2], Columns columns) {
  if (__all_sync(~0U, is_exact(rows[0]) && is_exact(rows[1]))) [[likely]] {
#pragma unroll
    for (int e = 0; e < count; e += 4) {
      const float2 two = columns(e);
      carried[e] = __fmaf_rn(sum[e] * rows[0], two.x, carried[e]);
      carried[e + 1] = __fmaf_rn(sum[e + 1] * rows[0], two.y, carried[e + 1]);
      carried[e + 2] = __fmaf_rn(sum[e + 2] * rows[1], two.x, carried[e + 2]);
      carried[e + 3] = __fmaf_rn(sum[e + 3] * rows[1], two.y, carried[e + 3]);
    }
    return;
  }
  const int down[2]{exponent(rows[0]), exponent(rows[1])};
#pragma unroll
  for (int e = 0; e < count; e += 4) {
    const float2 two = columns(e);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      carried[e + i] = add_scaled(carried[e + i], sum[e + i], down[i / 2] + exponent(i % 2 == 0 ? two.x : two.y));
  }
}

/// The sums of a thread's segments so far, in local memory, as SegmentTotals has them, in vectors of 16 bytes.
template <int count>
class VectorTotals {
 public:
  __device__ explicit VectorTotals(Index k) : offset_(k >> 62) {}
  __device__ float4 load(int e) const { return *reinterpret_cast<const float4*>(total_ + offset_ + e); }
  __device__ void store(int e, float4 total) { *reinterpret_cast<float4*>(total_ + offset_ + e) = total; }

 private:
  static_assert(count % 4 == 0);
  alignas(16) float total_[count];
  Index offset_; ///< 0, which the compiler cannot know
};

/// Adds up the sums of the segments of the first slice of k, in `totals`, as they are completed. Returns whether
/// `carried` is what is to be stored: in the first slice the sum of all segments, in the others the sum of one. `first`
/// and `last` say which segment of its slice was completed.
template <int count, class Totals>
__device__ bool complete_segment(float (&carried)[count], Totals& totals, int slice, bool first, bool last) {
  if (slice > 0) return true;
  if (!first) {
#pragma unroll
    for (int e = 0; e < count; e += 4) {
      const float4 total = totals.load(e);
      carried[e] = total.x + carried[e];
      carried[e + 1] = total.y + carried[e + 1];
      carried[e + 2] = total.z + carried[e + 2];
      carried[e + 3] = total.w + carried[e + 3];
    }
  }
  if (last) return true;
#pragma unroll
  for (int e = 0; e < count; e += 4)
    totals.store(e, make_float4(carried[e], carried[e + 1], carried[e + 2], carried[e + 3]));
  return false;
}

} // namespace tessera::cuda::wgmma
