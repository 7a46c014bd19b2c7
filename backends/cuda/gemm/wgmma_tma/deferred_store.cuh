#pragma once

/// Results of 16 bits that the copy engine brings to memory while the matrix units have the next tile to do. A warp has
/// 16 rows of a tile, and shared memory for 128 columns of them; the others, rounded, wait in registers, and follow 64
/// columns at a stage. Stores of the warps' own would take them longer than the products. NVIDIA CUTLASS stores like
/// this.

#include "store_boxes.cuh"

namespace tessera::cuda::tma {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

template <UnitType type, int tile_n>
class DeferredRows {
  static constexpr int columns = 64, chunks = (tile_n + columns - 1) / columns;
  static constexpr int staged = 2;     ///< chunks that wait in shared memory: one in each of the warp's buffers
  static_assert(chunks == staged + 2); // those of 224 and 256 columns

 public:
  __device__ bool waiting() const { return next_ < chunks; }
  /// Nothing is waiting, so that registers were free for something else.
  __device__ void forget() {
#pragma unroll
    for (unsigned& pair : packed_) pair = 0;
  }

  /// Starts; nothing may be waiting. `buffers`: the warp's.
  __device__ void hold(const CUtensorMap& c, const Output& x, const float (&sum)[tile_n / 2], char* buffers, int i,
                       int j) {
    const int lane = lane_from_here();
    row_ = i;
    col_ = j;
    next_ = staged;
    wait_for_boxes<0>();
#pragma unroll
    for (int chunk = 0; chunk < staged; ++chunk)
      stage_narrow<type>(sum, chunk * columns / 2, x.alpha, buffers + chunk * buffer_bytes, lane);
    show_to_engine();
#pragma unroll
    for (int chunk = 0; chunk < staged; ++chunk) send_box(c, buffers + chunk * buffer_bytes, i, j + chunk * columns);
#pragma unroll
    for (int p = 0; p < held; ++p) {
      const int e = staged * columns / 2 + p * 2;
      packed_[p] = Rounding<Narrow<type>>::pair(x.alpha * sum[e], x.alpha * sum[e + 1]);
    }
  }

  __device__ void store_next(const CUtensorMap& c, char* buffers) {
    const int lane = lane_from_here();
    char* const buffer = buffers + next_ % staged * buffer_bytes;
    wait_for_boxes<staged - 1>(); // the one before the last has left this buffer
    const bool last = next_ + 1 == chunks;
    if (last) // registers are numbered by constants
      stage_held<last_held>(buffer, lane);
    else
      stage_held<0>(buffer, lane);
    show_to_engine();
    send_box(c, buffer, row_, last ? col_ + tile_n - columns : col_ + staged * columns);
    ++next_;
  }

 private:
  static constexpr int held = (tile_n - staged * columns) / 4; ///< pairs of neighbours in registers

  static constexpr int last_held = held - columns / 4; ///< of 224 columns, the last 64 begin within the chunk before

  template <int first>
  __device__ void stage_held(char* buffer, int lane) const {
    stage_pairs<held>([&](int p) { return packed_[p]; }, first, buffer, lane);
  }

  unsigned packed_[held];
  int row_ = 0, col_ = 0;
  int next_ = chunks;
};

#endif

} // namespace tessera::cuda::tma
