#pragma once

/// From accumulators to C: each warp turns its 16 rows, 128 bytes of each at a time, in shared memory of its own, so
/// that its lanes store 16 bytes each, a row's next to one another. So a block's last tile is stored, and all where the
/// copy engine cannot (tma_boxes.cuh): they wait for no store. Where C is not aligned, and at its edge, a lane stores a
/// column's elements.

#include "cuda/gemm/common/canonical.cuh"
#include "cuda/gemm/common/rounding.cuh"
#include "pipeline.cuh"

namespace tessera::cuda::tma {

constexpr int buffer_bytes = staging / 2; ///< a warp has two, used in turn

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

template <UnitType type>
using Narrow = std::conditional_t<type == UnitType::Fp16, __half, __nv_bfloat16>;

/// Where results go: to C, or to the slices' sums.
struct Output {
  void* c;
  Index ldc;
  Index plane; ///< elements from one slice's sums to the next one's
  int m, n;
  float alpha, beta; ///< 1 and 0 for sums
  bool narrow;       ///< 16 bit
  bool vectors;      ///< rows begin at multiples of 16 bytes
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// The same, in registers from here on: a kernel's parameters come from memory, and should not be waited for at the
/// end.
__device__ inline Output held(Output x) {
  int narrow = x.narrow, vectors = x.vectors;
  asm volatile(""
               : "+l"(x.c), "+l"(x.ldc), "+l"(x.plane), "+r"(x.m), "+r"(x.n), "+f"(x.alpha), "+f"(x.beta), "+r"(narrow),
                 "+r"(vectors));
  x.narrow = narrow != 0;
  x.vectors = vectors != 0;
  return x;
}

/// This thread's lane, which the compiler does not know before.
__device__ inline int lane_from_here() {
  unsigned thread = threadIdx.x;
  asm volatile("" : "+r"(thread));
  return static_cast<int>(thread % 32);
}

/// 32 f32 results of each of 16 rows, from accumulator `first`, a constant, on, lines of 128 bytes, the 16-byte chunks
/// of line i at c ^ i % 8. A lane has of every 8 columns two, in the rows lane / 4 and lane / 4 + 8, or, if `paired`,
/// 2·(lane / 4) and the next. Odd rows take their chunks in another order than even ones, so that no two rows want the
/// same banks at once.
template <bool paired, int count>
__device__ void stage_wide(const float (&sum)[count], int first, float alpha, char* buffer, int lane) {
  const bool odd = !paired && lane / 4 % 2 == 1;
#pragma unroll
  for (int g = 0; g < 4; g += 2)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int e = first + g * 4 + half * 2;
      const float2 here{alpha * sum[e], alpha * sum[e + 1]}, next{alpha * sum[e + 4], alpha * sum[e + 5]};
      const int row = paired ? lane / 4 * 2 + half : lane / 4 + half * 8;
      const int chunk = g * 2 + lane % 4 / 2;
      char* const to = buffer + row * 128 + lane % 2 * 8;
      *reinterpret_cast<float2*>(to + ((chunk + (odd ? 2 : 0)) ^ row % 8) * 16) = odd ? next : here;
      *reinterpret_cast<float2*>(to + ((chunk + (odd ? 0 : 2)) ^ row % 8) * 16) = odd ? here : next;
    }
}

/// 64 results rounded to 16 bits of each of 16 rows, or the last 32, likewise; four 8×8 matrices an instruction.
/// pair(p) are the accumulators 2·p and 2·p + 1, of which there are `count`, from pair `first` on.
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
template <UnitType type, int count>
__device__ void stage_narrow(const float (&sum)[count], int first, float alpha, char* buffer, int lane) {
  stage_pairs<count / 2>(
      [&](int p) { return Rounding<Narrow<type>>::pair(alpha * sum[p * 2], alpha * sum[p * 2 + 1]); }, first / 2,
      buffer, lane);
}

/// The 16 bytes of a row's chunk.
template <class T>
__device__ T staged(const char* buffer, int row, int chunk) {
  return *reinterpret_cast<const T*>(buffer + row * 128 + (chunk ^ row % 8) * 16);
}

/// A warp's 16 rows of some columns to C, of R.
template <class R>
struct OutputRows {
  R* c; ///< the first result
  Index ldc;
  int rows, columns; ///< that exist
  float beta;

  /// What `stage_wide` left, four columns a lane. All of C that is needed is under way before the first of it is used.
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
  /// The same, a column a lane.
  __device__ void store_columns(const char* buffer, int lane) const {
    if (lane >= columns) return;
#pragma unroll 4
    for (int row = 0; row < 16 && row < rows; ++row) {
      R* const to = c + row * ldc + lane;
      const float r = *reinterpret_cast<const float*>(buffer + row * 128 + (lane / 4 ^ row % 8) * 16 + lane % 4 * 4);
      *to = Rounding<R>::round(beta == 0 ? r : fused(beta, Rounding<R>::value(*to), r));
    }
  }
  /// What `stage_narrow` left, eight columns a lane, or those of them that exist.
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

/// What `stage_wide` left, without alpha, four columns a lane: 16 rows from (i, j) on.
__device__ inline void store_staged_with_epilogue(const EpilogueStore<float>& epilogue, const char* buffer, int lane,
                                                  int i, int j) {
  float sum[4][4];
#pragma unroll
  for (int v = 0; v < 4; ++v) {
    const auto quad = staged<float4>(buffer, lane / 8 + v * 4, lane % 8);
    sum[v][0] = quad.x;
    sum[v][1] = quad.y;
    sum[v][2] = quad.z;
    sum[v][3] = quad.w;
  }
  epilogue.store([&](int v) -> ResultPlace { return {i + lane / 8 + v * 4, j + lane % 8 * 4}; }, sum);
}

/// store() where more is to be done than alpha and beta: by way of local memory, since with accumulators in registers
/// there would be too few for this. All that depends on the lane is computed here and not before the main loop.
template <bool paired, int count>
__device__ void store_with_epilogue(const EpilogueStore<float>& epilogue, const float (&sum)[count], char* buffers,
                                    int i, int j) {
  const int lane = lane_from_here();
  if (i >= epilogue.m || j >= epilogue.n) return;
  float held[count];
#pragma unroll
  for (int e = 0; e < count; ++e) held[e] = sum[e];
  __syncwarp(); // the last tile's buffers have been read
#pragma unroll 1
  for (int col = 0; col < count * 2 && j + col < epilogue.n; col += 32) {
    char* const buffer = buffers + col / 32 % 2 * buffer_bytes;
    float part[16];
#pragma unroll
    for (int e = 0; e < 16; ++e) part[e] = held[col / 2 + e];
    stage_wide<paired>(part, 0, 1, buffer, lane);
    __syncwarp();
    store_staged_with_epilogue(epilogue, buffer, lane, i, j + col);
  }
}

/// A warp's 16 rows from (i, j) on, of one slice.
template <UnitType type, bool paired = false, int count>
__device__ void store(const Output& x, const float (&sum)[count], char* buffers, int i, int j, int slice,
                      int lane = static_cast<int>(threadIdx.x) % 32) {
  constexpr int tile_n = count * 2;
  if (i >= x.m || j >= x.n) return;
  const Index first = slice * x.plane + i * x.ldc + j;
  const int columns = min(tile_n, x.n - j);
  const auto rows_of = [&](auto* c, int col) {
    return OutputRows<std::remove_pointer_t<decltype(c)>>{c + first + col, x.ldc, x.m - i, columns - col, x.beta};
  };
  __syncwarp(); // the last tile's buffers have been read
  // Two buffers in turn: whoever is past a chunk's barrier has read the other one.
  if (x.vectors && (x.narrow ? x.beta == 0 : columns == tile_n)) {
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
  // Not unrolled: so much more code would not fit the instruction cache.
#pragma unroll 1
  for (int col = 0; col < columns; col += 32) {
    char* const buffer = buffers + col / 32 % 2 * buffer_bytes;
#pragma unroll
    for (int chunk = 0; chunk < tile_n; chunk += 32)
      if (chunk == col)
        stage_wide<paired>(sum, chunk / 2, x.alpha, buffer, lane); // accumulators are numbered by constants
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

/// Results of Cᵀ: the accumulators' 16 rows are columns from j on, their columns rows from i on. Of a lane's two
/// columns the second is the first one's neighbour (`neighbours` = 2) or 8 further on (1).
template <int neighbours, int count>
__device__ void store_columns_with_epilogue(const EpilogueStore<float>& epilogue, const float (&sum)[count], int i,
                                            int j) {
  const int lane = lane_from_here();
  j += lane / 4 * neighbours;
  i += lane % 4 * 2;
  float held[count]; // in local memory: the loop is not unrolled
#pragma unroll
  for (int e = 0; e < count; ++e) held[e] = sum[e];
#pragma unroll 1
  for (int first = 0; first < count; first += 8) {
    // Result e is in row e / 4 · 8 + e % 2 and in column e / 2 % 2 of the two.
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
