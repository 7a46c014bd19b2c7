#pragma once

/// From accumulators to C: each warp brings its 16 rows, 128 bytes of each at a time, into shared memory of its own,
/// whence a bulk copy stores them while the next ones are prepared. Where C's rows do not begin at multiples of 16 bytes
/// or beta ≠ 0, the warp's lanes store them, a row at a time.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "canonical.cuh"
#include "tma_pipeline.cuh"

namespace tessera::cuda::tma {

/// A 16-bit result.
template <UnitType type>
struct Narrow;
template <>
struct Narrow<UnitType::Fp16> {
  using Type = __half;
  static __device__ unsigned pair(float low, float high) {
    const __half2 both = __floats2half2_rn(low, high);
    return reinterpret_cast<const unsigned&>(both);
  }
  static __device__ Type round(float x) { return __float2half_rn(x); }
  static __device__ float value(Type x) { return __half2float(x); }
};
template <>
struct Narrow<UnitType::Bf16> {
  using Type = __nv_bfloat16;
  static __device__ unsigned pair(float low, float high) {
    const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
    return reinterpret_cast<const unsigned&>(both);
  }
  static __device__ Type round(float x) { return __float2bfloat16_rn(x); }
  static __device__ float value(Type x) { return __bfloat162float(x); }
};

/// Where results go.
struct Results {
  CUtensorMap map; ///< of C, or of the slices' sums: a plane for each; boxes of 16 rows
  void* c;
  Index ldc;
  int m, n;
  float alpha, beta; ///< 1 and 0 if the map is of sums
  bool narrow;       ///< 16 bit
  bool bulk;         ///< by the map
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// 32 f32 results of each of 16 rows, lines of 128 bytes, 16-byte chunks swizzled as tensor maps have them. A lane has
/// of every 8 columns two, in the rows lane / 4 and lane / 4 + 8. Odd rows take their chunks in another order than even
/// ones, so that no two rows want the same banks at once.
template <int first, int count>
__device__ void stage_wide(const float (&sum)[count], float alpha, char* buffer, int lane) {
  const int row = lane / 4;
  const bool odd = row % 2 == 1;
  char* const line = buffer + row * 128 + lane % 2 * 8;
#pragma unroll
  for (int g = 0; g < 4; g += 2)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int e = first + g * 4 + half * 2;
      const float2 here{alpha * sum[e], alpha * sum[e + 1]}, next{alpha * sum[e + 4], alpha * sum[e + 5]};
      const int chunk = g * 2 + lane % 4 / 2;
      char* const to = line + half * 1024;
      *reinterpret_cast<float2*>(to + ((chunk + (odd ? 2 : 0)) ^ row) * 16) = odd ? next : here;
      *reinterpret_cast<float2*>(to + ((chunk + (odd ? 0 : 2)) ^ row) * 16) = odd ? here : next;
    }
}

/// 64 results rounded to 16 bits of each of 16 rows, likewise; four 8×8 matrices an instruction.
template <UnitType type, int first, int count>
__device__ void stage_narrow(const float (&sum)[count], float alpha, char* buffer, int lane) {
  const int row = lane % 16;
  const auto line = static_cast<unsigned>(__cvta_generic_to_shared(buffer + row * 128));
#pragma unroll
  for (int g = 0; g < 8; g += 2) {
    const int e = first + g * 4;
    const auto pair = [&](int i) { return Narrow<type>::pair(alpha * sum[e + i], alpha * sum[e + i + 1]); };
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                     line + ((g + lane / 16) ^ row % 8) * 16),
                 "r"(pair(0)), "r"(pair(2)), "r"(pair(4)), "r"(pair(6))
                 : "memory");
  }
}

/// Results of `stage_wide` to C, a lane a column.
template <UnitType type>
__device__ void drain(const Results& x, const char* buffer, int i, int j, int lane) {
  __syncwarp();
  if (j + lane >= x.n) return;
  const Index first = i * x.ldc + j + lane;
#pragma unroll 4
  for (int row = 0; row < 16 && i + row < x.m; ++row) {
    const float r =
        *reinterpret_cast<const float*>(buffer + row * 128 + ((lane / 4) ^ row % 8) * 16 + lane % 4 * 4);
    const Index at = first + row * x.ldc;
    if (x.narrow) {
      auto* const c = static_cast<typename Narrow<type>::Type*>(x.c) + at;
      *c = Narrow<type>::round(x.beta == 0 ? r : fused(x.beta, Narrow<type>::value(*c), r));
    } else {
      store_result(static_cast<float*>(x.c) + at, r, 1.0f, x.beta);
    }
  }
}

/// The buffer that was handed to the copy before the last one is free again.
__device__ inline void wait_for_buffer(int lane) {
  if (lane == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>{});
  __syncwarp();
}

__device__ inline void store_bulk(const Results& x, const char* buffer, int i, int j, int plane, int lane) {
  ptx::fence_proxy_async(ptx::space_shared);
  __syncwarp();
  if (lane != 0) return;
  const int place[3]{j, i, plane};
  ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &x.map, place, buffer);
  ptx::cp_async_bulk_commit_group();
}

/// Chunk number `chunk` of the accumulators, which only a constant can number: all are looked at.
template <int width, int count, class Stage, int... chunks>
__device__ void stage_chunk(int chunk, std::integer_sequence<int, chunks...>, Stage&& stage) {
  ((chunk == chunks ? stage(std::integral_constant<int, chunks * width / 2>{}) : void()), ...);
}

/// A warp's 16 rows from (i, j) on. The loops are not unrolled: what is done with a chunk would not fit the
/// instruction cache many times over.
template <UnitType type, int count>
__device__ void store(const Results& x, const float (&sum)[count], char* buffers, int i, int j, int plane) {
  constexpr int tile_n = count * 2;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (i >= x.m) return;
  const int width = x.narrow && x.bulk ? 64 : 32;
#pragma unroll 1
  for (int chunk = 0; chunk < tile_n / width && j + chunk * width < x.n; ++chunk) {
    char* const buffer = buffers + chunk % 2 * 2048;
    wait_for_buffer(lane);
    if (width == 64) {
      stage_chunk<64, count>(chunk, std::make_integer_sequence<int, tile_n / 64>{},
                             [&](auto first) { stage_narrow<type, first.value>(sum, x.alpha, buffer, lane); });
    } else {
      stage_chunk<32, count>(chunk, std::make_integer_sequence<int, tile_n / 32>{},
                             [&](auto first) { stage_wide<first.value>(sum, x.alpha, buffer, lane); });
    }
    if (x.bulk)
      store_bulk(x, buffer, i, j + chunk * width, plane, lane);
    else
      drain<type>(x, buffer, i, j + chunk * width, lane);
  }
}

#endif

} // namespace tessera::cuda::tma
