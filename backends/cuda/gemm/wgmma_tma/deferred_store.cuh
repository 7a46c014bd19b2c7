#pragma once

/// Deferred stores: the copy engine brings results of 16 bits to memory while the matrix units compute the next tile. A
/// warp has 16 rows of a tile, and shared memory for 128 columns of them. The other columns, rounded, wait in
/// registers, and 64 of them follow at each stage. If the warps stored them, that would take longer than the products.
/// NVIDIA CUTLASS stores in this way.

#include "store_boxes.cuh"

namespace tessera::cuda::tma {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Tells the compiler that nothing waits in registers, so that they are free for something else.
template <int count>
__device__ void forget(float (&registers)[count]) {
#pragma unroll
  for (float& value : registers) value = 0;
}

template <MatrixUnitType type, int tile_n>
class DeferredRows {
  static constexpr int columns = 64, chunks = (tile_n + columns - 1) / columns;
  static constexpr int staged = 2;     ///< chunks that wait in shared memory: one in each of the warp's buffers
  static_assert(chunks == staged + 2); // tiles have 224 or 256 columns

 public:
  __device__ bool waiting() const { return next_ < chunks; }

  /// Starts to store a tile's results. Nothing may be waiting. `buffers` belong to this warp. What waits is in
  /// `registers`.
  template <int count>
  __device__ void hold(const CUtensorMap& c, const Output& x, const float (&sum)[tile_n / 2], float (&registers)[count],
                       char* buffers, int i, int j, int plane = 0) {
    static_assert(count >= held);
    const int lane = lane_from_here();
    row_ = i;
    col_ = j;
    plane_ = plane;
    next_ = staged;
    wait_for_boxes<0>();
#pragma unroll
    for (int chunk = 0; chunk < staged; ++chunk)
      stage_narrow<type>(sum, chunk * columns / 2, x.alpha, buffers + chunk * buffer_bytes, lane);
    show_to_engine();
#pragma unroll
    for (int chunk = 0; chunk < staged; ++chunk)
      send_box(c, buffers + chunk * buffer_bytes, i, j + chunk * columns, plane);
#pragma unroll
    for (int p = 0; p < held; ++p) {
      const int e = staged * columns / 2 + p * 2;
      registers[p] = __uint_as_float(Rounding<Narrow<type>>::pair(x.alpha * sum[e], x.alpha * sum[e + 1]));
    }
  }

  template <int count>
  __device__ void store_next(const CUtensorMap& c, const float (&registers)[count], char* buffers) {
    const int lane = lane_from_here();
    char* const buffer = buffers + next_ % staged * buffer_bytes;
    wait_for_boxes<staged - 1>(); // the copy engine has read this buffer's earlier chunk
    const bool last = next_ + 1 == chunks;
    if (last) // registers must be numbered by constants
      stage_held<last_held>(registers, buffer, lane);
    else
      stage_held<0>(registers, buffer, lane);
    show_to_engine();
    send_box(c, buffer, row_, last ? col_ + tile_n - columns : col_ + staged * columns, plane_);
    ++next_;
  }

  /// Stores what waits beside the products of a block of k: a chunk or, if no other block follows, all of it.
  template <int count>
  __device__ void store_beside(const CUtensorMap& c, const float (&registers)[count], char* buffers, bool all) {
    if (!waiting()) return;
    do {
      store_next(c, registers, buffers);
    } while (all && waiting());
  }

 private:
  static constexpr int held = (tile_n - staged * columns) / 4; ///< pairs of neighbours that wait in registers

  static constexpr int last_held = held - columns / 4; ///< of 224 columns, the last 64 begin within the chunk before

  template <int first, int count>
  static __device__ void stage_held(const float (&registers)[count], char* buffer, int lane) {
    stage_pairs<held>([&](int p) { return __float_as_uint(registers[p]); }, first, buffer, lane);
  }

  int row_ = 0, col_ = 0, plane_ = 0;
  int next_ = chunks;
};

#endif

} // namespace tessera::cuda::tma
