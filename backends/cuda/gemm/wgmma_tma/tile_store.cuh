#pragma once

/// Describes how results get from accumulators to C: each warp rearranges its 16 rows, 128 bytes of each at a time, in
/// its own shared memory, so that its lanes store 16 bytes each, next to one another in a row. A block's last tile is
/// stored in this way, and every tile where the copy engine cannot store (store_boxes.cuh); warps do not wait for these
/// stores. Where C is not aligned, and at its edge, a lane stores the elements of a column.

#include "cuda/gemm/common/canonical.cuh"
#include "cuda/gemm/common/rounding.cuh"
#include "pipeline.cuh"

namespace tessera::cuda::tma {

constexpr int buffer_bytes = staging / 2; ///< a warp has two buffers and uses them in turn

/// Four neighbours in C.
template <class R>
struct alignas(4 * sizeof(R)) Quad {
  R x[4];
  __device__ float4 value() const {
    const Quad q = *this;
    return {Rounding<R>::value(q.x[0]), Rounding<R>::value(q.x[1]), Rounding<R>::value(q.x[2]),
            Rounding<R>::value(q.x[3])};
  }
  __device__ void set(const float4& r) {
    *this = Quad{Rounding<R>::round(r.x), Rounding<R>::round(r.y), Rounding<R>::round(r.z), Rounding<R>::round(r.w)};
  }
};

template <MatrixUnitType type>
using Narrow = std::conditional_t<type == MatrixUnitType::Fp16, __half, __nv_bfloat16>;

/// Where results go: to C, or to the sums of slices. The members of ScaledResult stand apart here: this order is part
/// of the kernels' parameters.
struct Output {
  void* c;
  Index ldc;
  Index plane; ///< elements from one slice's sums to the next slice's sums
  int m, n;
  float alpha, beta; ///< 1 and 0 for sums
  bool narrow;       ///< results have 16 bits
  bool vectors;      ///< rows begin at multiples of 16 bytes
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Returns `x` in registers: a kernel's parameters come from memory, and at the end the kernel should not wait for
/// them.
__device__ inline Output held(Output x) {
  int narrow = x.narrow, vectors = x.vectors;
  asm volatile(""
               : "+l"(x.c), "+l"(x.ldc), "+l"(x.plane), "+r"(x.m), "+r"(x.n), "+f"(x.alpha), "+f"(x.beta), "+r"(narrow),
                 "+r"(vectors));
  x.narrow = narrow != 0;
  x.vectors = vectors != 0;
  return x;
}

/// Returns this thread's lane. The compiler cannot compute it before this place in the code.
__device__ inline int lane_from_here() {
  unsigned thread = threadIdx.x;
  asm volatile("" : "+r"(thread));
  return static_cast<int>(thread % 32);
}

/// Writes 32 f32 results of each of 16 rows, or the last 16, to a buffer, from accumulator `first` on, which must be a
/// constant. The buffer's lines have 128 bytes, and the 16-byte chunk c of line i is at c ^ i % 8. A lane has two of
/// every 8 columns, in the rows lane / 4 and lane / 4 + 8 or, if `paired`, 2·(lane / 4) and the next one. Lanes of odd
/// rows write their chunks in another order than lanes of even rows, so that no two rows use the same banks at once.
template <bool paired, int count>
__device__ void stage_wide(const float (&sum)[count], int first, float alpha, char* buffer, int lane) {
  const bool odd = !paired && lane / 4 % 2 == 1;
#pragma unroll
  for (int g = 0; g < 4; g += 2)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int e = first + g * 4 + half * 2;
      if (e + 5 >= count) continue; // a consumer may have 16 columns
      const float2 here{alpha * sum[e], alpha * sum[e + 1]}, next{alpha * sum[e + 4], alpha * sum[e + 5]};
      const int row = paired ? lane / 4 * 2 + half : lane / 4 + half * 8;
      const int chunk = g * 2 + lane % 4 / 2;
      char* const to = buffer + row * 128 + lane % 2 * 8;
      *reinterpret_cast<float2*>(to + ((chunk + (odd ? 2 : 0)) ^ row % 8) * 16) = odd ? next : here;
      *reinterpret_cast<float2*>(to + ((chunk + (odd ? 0 : 2)) ^ row % 8) * 16) = odd ? here : next;
    }
}

/// Writes 64 results of 16 bits of each of 16 rows, or the last 32, to a buffer in the layout of stage_wide; an
/// instruction writes four 8×8 matrices. pair(p) returns the rounded accumulators 2·p and 2·p + 1; there are `count`
/// pairs, and the first one is pair `first`.
template <int count, class GetPair>
__device__ void stage_pairs(GetPair pair, int first, char* buffer, int lane) {
  const int row = lane % 16;
  const auto line = static_cast<unsigned>(__cvta_generic_to_shared(buffer + row * 128));
#pragma unroll
  for (int g = 0; g < 8; g += 2) {
    const int p = first + g * 2;
    if (p >= count) break;
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                     line + ((g + lane / 16) ^ row % 8) * 16),
                 "r"(pair(p)), "r"(pair(p + 1)), "r"(pair(p + 2)), "r"(pair(p + 3))
                 : "memory");
  }
}
template <MatrixUnitType type, int count>
__device__ void stage_narrow(const float (&sum)[count], int first, float alpha, char* buffer, int lane) {
  stage_pairs<count / 2>(
      [&](int p) { return Rounding<Narrow<type>>::pair(alpha * sum[p * 2], alpha * sum[p * 2 + 1]); }, first / 2,
      buffer, lane);
}

/// Returns the 16 bytes of a row's chunk.
template <class T>
__device__ T staged(const char* buffer, int row, int chunk) {
  return *reinterpret_cast<const T*>(buffer + row * 128 + (chunk ^ row % 8) * 16);
}

/// A warp's 16 rows of some columns, on their way to C, whose type is R.
template <class R>
struct OutputRows {
  R* c; ///< the first result
  Index ldc;
  int rows, columns; ///< rows and columns that exist
  float beta;

  /// Stores what stage_wide wrote, four columns a lane. All elements of C that are needed are read before the first is
  /// used.
  __device__ void store_wide(const char* buffer, int lane) const {
    auto* const to = reinterpret_cast<Quad<R>*>(c + lane / 8 * ldc) + lane % 8;
    float4 old[4]{};
    if (beta != 0) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (lane / 8 + i * 4 < rows) old[i] = to[i * ldc].value();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = lane / 8 + i * 4;
      if (row >= rows) return;
      float4 r = staged<float4>(buffer, row, lane % 8);
      if (beta != 0)
        r = {fused(beta, old[i].x, r.x), fused(beta, old[i].y, r.y), fused(beta, old[i].z, r.z),
             fused(beta, old[i].w, r.w)};
      to[i * ldc].set(r);
    }
  }
  /// Stores what stage_wide wrote, one column a lane.
  __device__ void store_columns(const char* buffer, int lane) const {
    if (lane >= columns) return;
#pragma unroll 4
    for (int row = 0; row < 16 && row < rows; ++row) {
      R* const to = c + row * ldc + lane;
      const float r = *reinterpret_cast<const float*>(buffer + row * 128 + (lane / 4 ^ row % 8) * 16 + lane % 4 * 4);
      *to = Rounding<R>::round(beta == 0 ? r : fused(beta, Rounding<R>::value(*to), r));
    }
  }
  /// Stores what stage_narrow wrote, eight columns a lane, or as many of them as exist.
  __device__ void store_narrow(const char* buffer, int lane) const {
    R* const to = c + lane / 8 * ldc + lane % 8 * 8;
    const int own = columns - lane % 8 * 8;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = lane / 8 + i * 4;
      if (row < rows && own >= 8) *reinterpret_cast<uint4*>(to + i * 4 * ldc) = staged<uint4>(buffer, row, lane % 8);
    }
    if (own >= 8) return;
#pragma unroll 1
    for (int e = 0; e < own; ++e)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int row = lane / 8 + i * 4;
        if (row < rows) to[i * 4 * ldc + e] = reinterpret_cast<const R*>(buffer + row * 128)[(lane ^ row) % 8 * 8 + e];
      }
  }
};

/// Stores what stage_wide wrote without alpha, four columns a lane, with an epilogue: 16 rows of `columns` columns from
/// (i, j) on.
template <int columns>
__device__ void store_staged_with_epilogue(const EpilogueStore<float>& epilogue, const char* buffer, int lane, int i,
                                           int j) {
  float sum[4][4];
#pragma unroll
  for (int v = 0; v < 4; ++v) {
    const auto quad = staged<float4>(buffer, lane / 8 + v * 4, lane % 8);
    sum[v][0] = quad.x;
    sum[v][1] = quad.y;
    sum[v][2] = quad.z;
    sum[v][3] = quad.w;
  }
  if (lane % 8 * 4 >= columns) i = static_cast<int>(epilogue.m); // which no result is in
  epilogue.store([&](int v) -> ResultPlace { return {i + lane / 8 + v * 4, j + lane % 8 * 4}; }, sum);
}

/// Stores like store(), with an epilogue. Results go through local memory, because accumulators leave too few
/// registers. All that depends on the lane is computed here, not before the main loop.
template <bool paired, int count>
__device__ void store_with_epilogue(const EpilogueStore<float>& epilogue, const float (&sum)[count], char* buffers,
                                    int i, int j) {
  const int lane = lane_from_here();
  if (i >= epilogue.m || j >= epilogue.n) return;
  float held[count];
#pragma unroll
  for (int e = 0; e < count; ++e) held[e] = sum[e];
  __syncwarp(); // all lanes have read the last tile's buffers
#pragma unroll 1
  for (int col = 0; col < count * 2 && j + col < epilogue.n; col += 32) {
    char* const buffer = buffers + col / 32 % 2 * buffer_bytes;
    float part[16];
#pragma unroll
    for (int e = 0; e < 16; ++e) part[e] = count < 16 && e >= count ? 0 : held[col / 2 + e];
    stage_wide<paired>(part, 0, 1, buffer, lane);
    __syncwarp();
    store_staged_with_epilogue<(count < 16 ? count * 2 : 32)>(epilogue, buffer, lane, i, j + col);
  }
}

/// Stores a warp's 16 rows from (i, j) on, of one slice.
template <MatrixUnitType type, bool paired = false, int count>
__device__ void store(const Output& x, const float (&sum)[count], char* buffers, int i, int j, int slice,
                      int lane = static_cast<int>(threadIdx.x) % 32) {
  constexpr int tile_n = count * 2;
  if (i >= x.m || j >= x.n) return;
  const Index first = slice * x.plane + i * x.ldc + j;
  const int columns = min(tile_n, x.n - j);
  const auto rows_of = [&](auto* c, int col) {
    return OutputRows<std::remove_pointer_t<decltype(c)>>{c + first + col, x.ldc, x.m - i, columns - col, x.beta};
  };
  __syncwarp(); // all lanes have read the last tile's buffers
  // There are two buffers in turn: a lane that has passed a chunk's barrier has read the other buffer.
  if (x.vectors && (x.narrow ? x.beta == 0 : columns == tile_n && tile_n % 32 == 0)) {
    if (!paired && x.narrow) {
#pragma unroll
      for (int col = 0; col < tile_n; col += 64) {
        if (col >= columns) break;
        char* const buffer = buffers + col / 64 % 2 * buffer_bytes;
        stage_narrow<type>(sum, col / 2, x.alpha, buffer, lane);
        __syncwarp();
        rows_of(static_cast<Narrow<type>*>(x.c), col).store_narrow(buffer, lane);
      }
    } else {
#pragma unroll
      for (int col = 0; col < tile_n; col += 32) {
        char* const buffer = buffers + col / 32 % 2 * buffer_bytes;
        stage_wide<paired>(sum, col / 2, x.alpha, buffer, lane);
        __syncwarp();
        rows_of(static_cast<float*>(x.c), col).store_wide(buffer, lane);
      }
    }
    return;
  }
  // The loop is not unrolled, because the code would not fit into the instruction cache.
#pragma unroll 1
  for (int col = 0; col < columns; col += 32) {
    char* const buffer = buffers + col / 32 % 2 * buffer_bytes;
#pragma unroll
    for (int chunk = 0; chunk < tile_n; chunk += 32)
      if (chunk == col)
        stage_wide<paired>(sum, chunk / 2, x.alpha, buffer, lane); // accumulators must be numbered by constants
    __syncwarp();
    const auto put = [&](const auto& rows) {
      if (x.vectors && rows.columns >= 32)
        rows.store_wide(buffer, lane);
      else
        rows.store_columns(buffer, lane);
    };
    if (!paired && x.narrow)
      put(rows_of(static_cast<Narrow<type>*>(x.c), col));
    else
      put(rows_of(static_cast<float*>(x.c), col));
  }
}

/// Stores results of Cᵀ with an epilogue. The accumulators' 16 rows are the columns from j on, and their columns are
/// the rows from i on. A lane has two columns: the second one is the neighbour of the first (`neighbours` = 2), or 8
/// columns further on (`neighbours` = 1).
template <int neighbours, int count>
__device__ void store_columns_with_epilogue(const EpilogueStore<float>& epilogue, const float (&sum)[count], int i,
                                            int j) {
  const int lane = lane_from_here();
  j += lane / 4 * neighbours;
  i += lane % 4 * 2;
  float held[count]; // in local memory, because the loop is not unrolled
#pragma unroll
  for (int e = 0; e < count; ++e) held[e] = sum[e];
#pragma unroll 1
  for (int first = 0; first < count; first += 8) {
    // Result e is in row e / 4 · 8 + e % 2, and in the first or second column by e / 2 % 2.
    float four[8 / neighbours][neighbours];
    const auto number = [](int v) { return neighbours == 2 ? v / 2 * 4 + v % 2 : v; };
#pragma unroll
    for (int v = 0; v < 8 / neighbours; ++v)
#pragma unroll
      for (int e = 0; e < neighbours; ++e) four[v][e] = held[first + number(v) + e * 2];
    epilogue.store(
        [&](int v) -> ResultPlace {
          const int e = number(v);
          return {i + first * 2 + e / 4 * 8 + e % 2, j + (neighbours == 2 ? 0 : e / 2 % 2 * 8)};
        },
        four);
  }
}

#endif

} // namespace tessera::cuda::tma
