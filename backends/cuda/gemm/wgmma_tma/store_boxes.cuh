#pragma once

/// Boxes of results: the copy engine brings them from a warp's shared memory to C while the warp goes on. If the warp
/// stored them, that would take longer than the products of a short k. Sources: PTX ISA, "cp.async.bulk.tensor"; NVIDIA
/// CUTLASS for the scheme.

#include "tile_store.cuh"

namespace tessera::cuda::tma {

/// A box fills a buffer: 16 rows of 128 bytes; or, for Cᵀ in tf32, 32 rows of 16 results.
constexpr int box_rows = 16, transposed_box_rows = 32, transposed_box_line = 64;

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Sends a box to C from (row, col) on, as far as C exists, as one group of copies; `plane` is the number of a batch's
/// C. The whole warp calls it.
__device__ inline void send_box(const CUtensorMap& c, const char* buffer, int row, int col, int plane = 0) {
  asm volatile(
      "{ .reg .pred p; elect.sync _|p, 0xffffffff;"
      "@p cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];"
      "cp.async.bulk.commit_group; }" ::"l"(&c),
      "r"(col), "r"(row), "r"(plane), "r"(static_cast<unsigned>(__cvta_generic_to_shared(buffer)))
      : "memory");
}
/// Waits until the copy engine has read all boxes but the last `under_way` ones.
template <int under_way>
__device__ void wait_for_boxes() {
  ptx::cp_async_bulk_wait_group_read(ptx::n32_t<under_way>{});
  __syncwarp();
}
/// Makes what this warp has written to shared memory visible to the copy engine.
__device__ inline void show_to_engine() {
  ptx::fence_proxy_async(ptx::space_shared);
  __syncwarp();
}

/// Sends f32 results: 16 rows from (i, j) on.
template <bool paired, int count>
__device__ void send_rows(const CUtensorMap& c, const float (&sum)[count], float alpha, char* buffers, int i, int j,
                          int plane = 0) {
  const int lane = lane_from_here();
#pragma unroll
  for (int col = 0; col < count * 2; col += 32) {
    char* const buffer = buffers + col / 32 % 2 * buffer_bytes;
    wait_for_boxes<1>();
    stage_wide<paired>(sum, col / 2, alpha, buffer, lane);
    show_to_engine();
    send_box(c, buffer, i, j + col, plane);
  }
}

/// Sends results of Cᵀ, which accumulators hold as store_transposed says: 16 columns from (i, j) on. In line l of a
/// box, the 16-byte chunk c is at c ^ l / 2 % 4.
template <int count>
__device__ void send_columns(const CUtensorMap& c, const float (&sum)[count], float alpha, char* buffers, int i,
                             int j) {
  const int lane = lane_from_here();
#pragma unroll
  for (int first = 0; first < count * 2; first += transposed_box_rows) {
    char* const buffer = buffers + first / transposed_box_rows % 2 * buffer_bytes;
    wait_for_boxes<1>();
#pragma unroll
    for (int g = 0; g < transposed_box_rows; g += 8)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int line = g + lane % 4 * 2 + e, at = (first + g) / 2 + e;
        *reinterpret_cast<float2*>(buffer + line * transposed_box_line + (lane / 8 ^ line / 2 % 4) * 16 +
                                   lane / 4 % 2 * 8) = float2{alpha * sum[at], alpha * sum[at + 2]};
      }
    show_to_engine();
    send_box(c, buffer, i + first, j);
  }
}

#endif

} // namespace tessera::cuda::tma
