#pragma once

/// Results of 16 bits that go to memory while the matrix units have the next tile to do. A warp has 16 rows of a tile;
/// of these 128 columns wait in its shared memory and the others, rounded, in registers. 64 columns go at each stage.

#include "tma_epilogue.cuh"

namespace tessera::cuda::tma {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

template <UnitType type, int tile_n>
class DeferredRows {
  static constexpr int columns = 64, chunks = (tile_n + columns - 1) / columns;
  static constexpr int staged = 2;     ///< chunks that wait in shared memory: one in each of the warp's buffers
  static_assert(chunks == staged + 2); // those of 224 and 256 columns

 public:
  /// Of these results all columns exist, and nothing has to be read.
  __device__ static bool possible(const Results& x, int j) {
    return x.narrow && x.vectors && x.beta == 0 && j + tile_n <= x.n;
  }
  __device__ bool waiting() const { return next_ < chunks; }
  /// Nothing is waiting, so that registers were free for something else.
  __device__ void forget() {
#pragma unroll
    for (unsigned& pair : packed_) pair = 0;
  }

  /// store() for later. Nothing may be waiting.
  __device__ void hold(const Results& x, const float (&sum)[tile_n / 2], char* buffers, int i, int j) {
    const int lane = lane_from_here();
    rows_ = x.m - i - lane / 8;
    to_ = static_cast<Narrow<type>*>(x.c) + (i + lane / 8) * x.ldc + j + lane % 8 * 8;
    next_ = 0;
    __syncwarp(); // the last tile's buffers have been read
#pragma unroll
    for (int chunk = 0; chunk < staged; ++chunk)
      stage_narrow<type>(sum, chunk * columns / 2, x.alpha, buffers + chunk * 2048, lane);
#pragma unroll
    for (int p = 0; p < held; ++p) {
      const int e = staged * columns / 2 + p * 2;
      packed_[p] = Rounding<Narrow<type>>::pair(x.alpha * sum[e], x.alpha * sum[e + 1]);
    }
  }

  __device__ void store_next(const Results& x, char* buffers) {
    const int lane = lane_from_here();
    char* const buffer = buffers + next_ % staged * 2048;
    if (next_ == staged) stage_held<0>(buffer, lane); // registers are numbered by constants
    if (next_ == staged + 1) stage_held<1>(buffer, lane);
    __syncwarp();
    if (lane % 8 * 8 < tile_n - next_ * columns) {
      uint4 rows[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) rows[i] = tma::staged<uint4>(buffer, lane / 8 + i * 4, lane % 8);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (i * 4 < rows_) *reinterpret_cast<uint4*>(to_ + i * 4 * x.ldc) = rows[i];
    }
    to_ += columns;
    ++next_;
  }

 private:
  static constexpr int held = (tile_n - staged * columns) / 4; ///< pairs of neighbours in registers

  template <int chunk>
  __device__ void stage_held(char* buffer, int lane) const {
    __syncwarp(); // the buffer has been read
    stage_pairs<held>([&](int p) { return packed_[p]; }, chunk * columns / 4, buffer, lane);
  }

  unsigned packed_[held];
  Narrow<type>* to_ = nullptr; ///< this lane's first result of the next chunk
  int rows_ = 0;               ///< that exist from there on
  int next_ = chunks;
};

#endif

} // namespace tessera::cuda::tma
