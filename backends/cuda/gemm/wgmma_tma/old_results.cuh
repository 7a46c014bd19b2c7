#pragma once

/// beta·C, which is added to a tile's results while they are in accumulators. A warp of the producer's warpgroup asks
/// the L2 cache for a tile's part of C while the tile before is multiplied. When the sums are there, each consumer warp
/// reads its rows of C in whole lines, the next chunk of them while it adds one, and passes them through its buffer to
/// the lanes that have their sums. All ways of storing then see alpha 1 and beta 0, the copy engine's too.

#include "cuda/gemm/common/stores/prefetch_lines.cuh"
#include "work_tiles.cuh"

namespace tessera::cuda::tma {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Asks the L2 cache for C of this block's tiles, one tile ahead of the consumers. The calling warp does nothing else.
/// `begun` is the number of the tile that the consumers work on.
template <class S>
__device__ void fetch_old_results(const TmaProduct& x, unsigned rank, WorkTile<S> work, const volatile int* begun) {
  if (S::sharing == Sharing::Results && rank != 0) return; // all blocks of the cluster have one tile
  const Clusters<S> clusters(x);
  const int element = x.to.narrow ? 2 : 4;
  for (int index = clusters.first; index < clusters.all; index += clusters.count) {
    if (index != clusters.first) work = WorkTile<S>(x, index, rank);
    const int row = x.swapped ? work.col : work.row, col = x.swapped ? work.row : work.col;
    const int rows = min(x.swapped ? S::tile_n : S::rows, x.to.m - row);
    const int columns = min(x.swapped ? S::rows : S::tile_n, x.to.n - col);
    prefetch_lines(static_cast<const char*>(x.to.c) + (row * x.to.ldc + col) * element, x.to.ldc * element, rows,
                   columns * element, static_cast<int>(threadIdx.x) % 32, 32);
    while (*begun < index) __nanosleep(200);
  }
}

/// A warp's 16 rows of 32 columns of C, whose type is R, on their way from memory to its buffer: in the layout of
/// results that stage_wide writes, and in f32. In `quads` a lane has four neighbours of four rows, otherwise a column.
template <class R>
class OldChunk {
  static constexpr int words = 4 * sizeof(R) / sizeof(unsigned); ///< of four neighbours

 public:
  __device__ void read(bool quads, const R* c, Index ldc, int rows, int columns, int lane) {
    if (quads) {
      const R* const from = c + lane / 8 * ldc + lane % 8 * 4;
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (lane / 8 + i * 4 < rows && lane % 8 * 4 < columns) {
          if constexpr (words == 4) {
            const uint4 quad = *reinterpret_cast<const uint4*>(from + i * 4 * ldc);
            word_[i * 4] = quad.x;
            word_[i * 4 + 1] = quad.y;
            word_[i * 4 + 2] = quad.z;
            word_[i * 4 + 3] = quad.w;
          } else {
            const uint2 quad = *reinterpret_cast<const uint2*>(from + i * 4 * ldc);
            word_[i * 2] = quad.x;
            word_[i * 2 + 1] = quad.y;
          }
        }
      return;
    }
#pragma unroll
    for (int row = 0; row < 16; ++row)
      if (row < rows && lane < columns) word_[row] = bits(c[row * ldc + lane]);
  }
  __device__ void put(bool quads, char* buffer, int lane) const {
    if (quads) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int row = lane / 8 + i * 4;
        const unsigned* const w = word_ + i * words;
        float4 quad;
        if constexpr (words == 4)
          quad = {value(w[0]), value(w[1]), value(w[2]), value(w[3])};
        else
          quad = {value(w[0] & 0xffff), value(w[0] >> 16), value(w[1] & 0xffff), value(w[1] >> 16)};
        *reinterpret_cast<float4*>(buffer + row * 128 + (lane % 8 ^ row % 8) * 16) = quad;
      }
      return;
    }
#pragma unroll
    for (int row = 0; row < 16; ++row)
      *reinterpret_cast<float*>(buffer + row * 128 + (lane / 4 ^ row % 8) * 16 + lane % 4 * 4) = value(word_[row]);
  }

 private:
  using Bits = std::conditional_t<sizeof(R) == 4, unsigned, unsigned short>;
  __device__ static unsigned bits(const R& x) { return reinterpret_cast<const Bits&>(x); }
  __device__ static float value(unsigned word) {
    const auto narrow = static_cast<Bits>(word);
    return Rounding<R>::value(reinterpret_cast<const R&>(narrow));
  }

  unsigned word_[16];
};

/// Makes results of 32 columns, or of the last 16, from sums and from the part of C in a buffer. `first` is the number
/// of the first accumulator, and a constant; stage_wide says where a lane's results lie.
template <bool paired, int count>
__device__ void add_from_buffer(float (&sum)[count], int first, float alpha, float beta, const char* buffer, int lane) {
  const bool odd = !paired && lane / 4 % 2 == 1;
#pragma unroll
  for (int g = 0; g < 4; g += 2)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int e = first + g * 4 + half * 2;
      if (e + 5 >= count) continue;
      const int row = paired ? lane / 4 * 2 + half : lane / 4 + half * 8;
      const int chunk = g * 2 + lane % 4 / 2;
      const char* const from = buffer + row * 128 + lane % 2 * 8;
      const auto one = *reinterpret_cast<const float2*>(from + ((chunk + (odd ? 2 : 0)) ^ row % 8) * 16);
      const auto other = *reinterpret_cast<const float2*>(from + ((chunk + (odd ? 0 : 2)) ^ row % 8) * 16);
      const float2 here = odd ? other : one, next = odd ? one : other;
      sum[e] = fused(beta, here.x, alpha * sum[e]);
      sum[e + 1] = fused(beta, here.y, alpha * sum[e + 1]);
      sum[e + 4] = fused(beta, next.x, alpha * sum[e + 4]);
      sum[e + 5] = fused(beta, next.y, alpha * sum[e + 5]);
    }
}

/// Makes a warp's results of its sums: the 16 rows from (i, j) on. `factors` has alpha and beta. Nothing may be in the
/// buffers. While a chunk of 32 columns is added, the next one is read.
template <bool paired, class R, int count>
__device__ void add_old_rows(const Output& x, const EpilogueStore<float>& factors, float (&sum)[count], char* buffers,
                             int i, int j) {
  const int lane = lane_from_here();
  if (i >= x.m || j >= x.n) return;
  const R* const c = static_cast<const R*>(x.c) + i * x.ldc + j;
  const int rows = x.m - i, columns = min(count * 2, x.n - j);
  const bool quads = x.vectors && columns % 4 == 0;
  OldChunk<R> next;
  next.read(quads, c, x.ldc, rows, columns, lane);
  __syncwarp(); // all lanes have read what was in the buffers
#pragma unroll
  for (int col = 0; col < count * 2; col += 32) {
    if (col >= columns) break;
    char* const buffer = buffers + col / 32 % 2 * buffer_bytes;
    next.put(quads, buffer, lane);
    if (col + 32 < count * 2 && col + 32 < columns)
      next.read(quads, c + col + 32, x.ldc, rows, columns - col - 32, lane);
    __syncwarp(); // a lane that has passed it has read the other buffer
    add_from_buffer<paired>(sum, col / 2, factors.alpha, factors.beta, buffer, lane);
  }
  __syncwarp(); // all lanes have read both buffers
}

/// Makes a warp's results of Cᵀ of its sums, which store_columns_with_epilogue describes. Each lane reads its elements
/// itself, several before the first is used.
template <int neighbours, class R, int count>
__device__ void add_old_columns(const Output& x, const EpilogueStore<float>& factors, float (&sum)[count], int i,
                                int j) {
  const int lane = lane_from_here();
  j += lane / 4 * neighbours;
  i += lane % 4 * 2;
  constexpr int together = count < 16 ? count : 16;
  const R* const c = static_cast<const R*>(x.c) + i * x.ldc + j;
#pragma unroll
  for (int first = 0; first < count; first += together) {
    R old[together]{};
#pragma unroll
    for (int r = 0; r < together; ++r) {
      const int e = first + r, row = e / 4 * 8 + e % 2, col = e / 2 % 2 * (neighbours == 2 ? 1 : 8);
      if (i + row < x.m && j + col < x.n) old[r] = c[row * x.ldc + col];
    }
#pragma unroll
    for (int r = 0; r < together; ++r)
      sum[first + r] = fused(factors.beta, Rounding<R>::value(old[r]), factors.alpha * sum[first + r]);
  }
}

#endif

} // namespace tessera::cuda::tma
