#pragma once

/// Boxes of results that the copy engine brings from a warp's shared memory to C while the warp goes on: stores of its
/// own would take it longer than the products of a short k. PTX ISA, "cp.async.bulk.tensor"; NVIDIA CUTLASS stores like
/// this.

#include "tile_store.cuh"

namespace tessera::cuda::tma {

/// A box fills a buffer: 16 rows of 128 bytes; or, of Cᵀ in tf32, 32 rows of 16 results.
constexpr int box_rows = 16, transposed_box_rows = 32, transposed_box_line = 64;

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// To C from (row, col) on, what of it exists; a group of copies of its own. By a whole warp.
__device__ inline void send_box(const CUtensorMap& c, const char* buffer, int row, int col) {
  asm volatile(
      "{ .reg .pred p; elect.sync _|p, 0xffffffff;"
      "@p cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, 0}], [%3];"
      "cp.async.bulk.commit_group; }" ::"l"(&c),
      "r"(col), "r"(row), "r"(static_cast<unsigned>(__cvta_generic_to_shared(buffer)))
      : "memory");
}
/// All but the last so many have been read.
template <int under_way>
__device__ void wait_for_boxes() {
  ptx::cp_async_bulk_wait_group_read(ptx::n32_t<under_way>{});
  __syncwarp();
}
/// What this warp has written to shared memory.
__device__ inline void show_to_engine() {
  ptx::fence_proxy_async(ptx::space_shared);
  __syncwarp();
}

/// f32 results, 16 rows from (i, j) on.
template <bool paired, int count>
__device__ void send_rows(const CUtensorMap& c, const float (&sum)[count], float alpha, char* buffers, int i, int j) {
  const int lane = lane_from_here();
#pragma unroll
  for (int col = 0; col < count * 2; col += 32) {
    char* const buffer = buffers + col / 32 % 2 * buffer_bytes;
    wait_for_boxes<1>();
    stage_wide<paired>(sum, col / 2, alpha, buffer, lane);
    show_to_engine();
    send_box(c, buffer, i, j + col);
  }
}

/// Results of Cᵀ, as store_transposed has them: 16 columns from (i, j) on. Chunks of 16 bytes of line l are at
/// c ^ l / 2 % 4.
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
