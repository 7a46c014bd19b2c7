#pragma once

/// Describes how results of Cᵀ, from 16-bit operands, get from accumulators to C. A warp's 16 rows are 16 columns of C,
/// and a lane has results that are neighbours in a column. Each warp turns 16×16 of them over in its own shared memory,
/// so that its lanes store four neighbours of a row each. Where C is not aligned, and at its right edge, a lane stores
/// its results one by one.

#include "tile_store.cuh"

namespace tessera::cuda::tma {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Bytes from one row to the next in the buffer: a row has 16 results, and 16 bytes more, so that no two lanes of an
/// instruction of stage_columns write to the same bank.
constexpr int turned_line = 80;
static_assert(16 * turned_line <= buffer_bytes);

/// Writes 16 rows of C, of 16 results each, to a buffer, from accumulator `first` on, which must be a constant.
template <int count>
__device__ void stage_columns(const float (&sum)[count], int first, float alpha, char* buffer, int lane) {
  char* const to = buffer + lane % 4 * 2 * turned_line + lane / 4 * 4;
#pragma unroll
  for (int e = 0; e < 8; ++e)
    *reinterpret_cast<float*>(to + (e / 4 * 8 + e % 2) * turned_line + e % 4 / 2 * 32) = alpha * sum[first + e];
}

/// Stores what stage_columns wrote to the 16 rows from `c` on, of which `rows` exist.
template <class R>
__device__ void store_turned(R* c, Index ldc, int rows, float beta, const char* buffer, int lane) {
#pragma unroll
  for (int row = lane / 4; row < 16; row += 8) {
    if (row >= rows) return;
    auto* const to = reinterpret_cast<Quad<R>*>(c + row * ldc) + lane % 4;
    auto r = *reinterpret_cast<const float4*>(buffer + row * turned_line + lane % 4 * 16);
    if (beta != 0) {
      const float4 old = to->value();
      r = {fused(beta, old.x, r.x), fused(beta, old.y, r.y), fused(beta, old.z, r.z), fused(beta, old.w, r.w)};
    }
    to->set(r);
  }
}

/// Stores a warp's results to C, whose type is R: its 16 rows are the columns from j on, and the tile's columns are the
/// rows from i on. `buffers` are the warp's own.
template <class R, int count>
__device__ void store_columns_of(const Output& x, R* c, const float (&sum)[count], char* buffers, int i, int j) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (x.vectors && j + 16 <= x.n) {
    __syncwarp(); // all lanes have read what was in the buffers
#pragma unroll
    for (int rows = 0; rows < count * 2; rows += 16) {
      if (i + rows >= x.m) return;
      // There are two buffers in turn: a lane that has passed a barrier has read the other buffer.
      char* const buffer = buffers + rows / 16 % 2 * buffer_bytes;
      stage_columns(sum, rows / 2, x.alpha, buffer, lane);
      __syncwarp();
      store_turned(c + (i + rows) * x.ldc + j, x.ldc, x.m - i - rows, x.beta, buffer, lane);
    }
    return;
  }
  j += lane / 4;
  i += lane % 4 * 2;
#pragma unroll
  for (int e = 0; e < count; ++e) {
    const int row = i + e / 4 * 8 + e % 2, col = j + e % 4 / 2 * 8;
    if (row >= x.m || col >= x.n) continue;
    store_rounded(c + row * x.ldc + col, sum[e], x.alpha, x.beta);
  }
}
template <MatrixUnitType type, int count>
__device__ void store_columns_of(const Output& x, const float (&sum)[count], char* buffers, int i, int j, int slice) {
  if (x.narrow)
    store_columns_of(x, static_cast<Narrow<type>*>(x.c), sum, buffers, i, j);
  else
    store_columns_of(x, static_cast<float*>(x.c) + slice * x.plane, sum, buffers, i, j);
}

#endif

} // namespace tessera::cuda::tma
