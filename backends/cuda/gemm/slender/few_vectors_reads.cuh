#pragma once

/// Describes how few_vectors_kernel reads its operands. A matrix instruction leaves open which of its k and columns
/// stand for which of ours, as long as both operands agree. So lanes read 16 bytes as they are stored, along k or
/// across, and 128 bytes of a line at once. What is stored across is paired by a permutation of bytes, and neighbouring
/// lanes exchange halves of lines along k.

#include <utility>

#include <tessera/types.hpp>

#include "cuda/gemm/common/epilogue.cuh"
#include "cuda/gemm/common/rounding.cuh"
#include "warp_mma.cuh"

namespace tessera::cuda::few_vectors {

/// Describes how the small operand is read.
enum class Reads {
  Chunks, ///< 16 bytes along k
  Pairs,  ///< the elements of two vectors, which are neighbours
  Single
};

struct MmaParams {
  const void* large;
  Index large_ld; ///< elements from one line to the next
  const void* small;
  Index small_step, small_apart; ///< elements from one k to the next, and from one vector to the next
  int small_count, large_count, k;
  int k_parts, k_per_part; ///< number of parts of k, and the k of each
  bool swapped;            ///< the large operand is A
  bool narrow;             ///< C has the operands' type, not f32
  void* c;
  Index ldc;
  float alpha, beta;
  EpilogueStore<float> epilogue;
};

template <class T>
constexpr int chunk = 16 / static_cast<int>(sizeof(T)); ///< elements of 16 bytes
template <class T>
constexpr int step = 4 * chunk<T>; ///< k of four lanes' chunks
/// Groups of 8 vectors, the instruction's columns: the vectors of a chunk, or, along k, as many as a warp reads at
/// once.
template <class T, bool along_k>
constexpr int groups = along_k ? 4 : chunk<T>;
template <class T, bool along_k>
/// Steps that are read at once, so that a lane has 8 reads under way.
constexpr int steps = along_k || sizeof(T) == 4 ? 2 : 1;
template <class T, bool along_k>
constexpr int strip = 8 * groups<T, along_k>; ///< vectors of a block
template <class T, bool along_k>
constexpr std::size_t sums_bytes = groups<T, along_k> * 32 * sizeof(float4); ///< of a warp, or of a block

#if __CUDA_ARCH__ >= 900

/// Gathers column `i` of a chunk of rows in four registers along k.
template <int i>
__device__ void column_of(const uint4 (&rows)[8], unsigned (&to)[4]) {
  constexpr unsigned halves = i % 2 == 0 ? 0x5410 : 0x7632;
#pragma unroll
  for (int pair = 0; pair < 4; ++pair) {
    const auto word = [&](const uint4& x) { return i / 2 == 0 ? x.x : i / 2 == 1 ? x.y : i / 2 == 2 ? x.z : x.w; };
    to[pair] = __byte_perm(word(rows[pair * 2]), word(rows[pair * 2 + 1]), halves);
  }
}
template <int i>
__device__ void column_of(const uint4 (&rows)[4], unsigned (&to)[4]) {
#pragma unroll
  for (int k = 0; k < 4; ++k) to[k] = i == 0 ? rows[k].x : i == 1 ? rows[k].y : i == 2 ? rows[k].z : rows[k].w;
}

/// Returns the 32 bits as the matrix units take them.
template <class T>
__device__ unsigned rounded(unsigned x) {
  if constexpr (sizeof(T) == 2)
    return x;
  else
    return rounded_to_tf32(__uint_as_float(x));
}

/// A lane's two vectors of the small operand for one step: 16 bytes along k of each.
template <class T, Reads reads>
struct SmallChunks {
  uint4 vector[2];

  /// Returns the number of a lane's first or second vector.
  static __device__ int number(int lane, int which) {
    return reads == Reads::Pairs ? lane / 4 * 2 + which : lane / 4 + which * 8;
  }
  /// Reads the step from k on; it has zeros from x.k on, unless it is `whole`. Vectors beyond the last one repeat
  /// another one, and their results are not stored.
  template <bool whole>
  __device__ void fetch(const MmaParams& x, int k, int lane) {
    const T* const from = static_cast<const T*>(x.small) + k * x.small_step;
    if constexpr (reads == Reads::Chunks) {
#pragma unroll
      for (int v = 0; v < 2; ++v)
        vector[v] = whole || k < x.k ? *reinterpret_cast<const uint4*>(from + place(x, lane, v)) : uint4{};
    } else {
      Neighbours<T, chunk<T>> along[2];
#pragma unroll
      for (int i = 0; i < chunk<T>; ++i) {
        const auto two = whole || k + i < x.k ? one_k(x, from + i * x.small_step, lane) : Neighbours<T, 2>{};
        along[0].element[i] = two.element[0];
        along[1].element[i] = two.element[1];
      }
#pragma unroll
      for (int v = 0; v < 2; ++v) vector[v] = reinterpret_cast<const uint4&>(along[v]);
    }
  }

 private:
  static __device__ Index place(const MmaParams& x, int lane, int which) {
    return min(number(lane, which), x.small_count - 1) * x.small_apart;
  }
  static __device__ Neighbours<T, 2> one_k(const MmaParams& x, const T* from, int lane) {
    if constexpr (reads == Reads::Pairs)
      return *reinterpret_cast<const Neighbours<T, 2>*>(from + min(number(lane, 0), x.small_count - 2));
    else
      return {from[place(x, lane, 0)], from[place(x, lane, 1)]};
  }
};

/// 16 bytes of the first half and 16 bytes of the second half of a line.
struct Halves {
  uint4 first, second;
};

/// The loads that a warp has under way: a lane's elements of both operands for some steps.
template <class T, bool along_k, Reads reads>
struct OperandBatch {
  static constexpr int groups = few_vectors::groups<T, along_k>, steps = few_vectors::steps<T, along_k>,
                       depth = steps * step<T>;
  static_assert(!along_k || steps == 2);
  uint4 large[steps][groups];
  SmallChunks<T, reads> small[steps];

  /// Returns the vector of a group that is the instruction's column `column`; see exchanged().
  static __device__ int vector_of(int column) { return along_k ? column % 2 * 4 + column / 2 : column; }

  /// Reads the steps from k `first` on; they have zeros from x.k on, unless they are `whole`. `vector` is the block's
  /// first one. A line's 128 bytes are read at once; of a line along k, 8 lanes read them.
  template <bool whole>
  __device__ void fetch(const MmaParams& x, int vector, int first, int lane) {
    const int k = first + (along_k ? lane % 8 : lane % 4) * chunk<T>;
    const int line = along_k ? vector + lane / 8 : k;
    const int place = along_k ? k : vector + lane / 4 * chunk<T>;
    const T* const from = static_cast<const T*>(x.large) + line * x.large_ld + place;
#pragma unroll
    for (int i = 0; i < groups; ++i)
#pragma unroll
      for (int s = 0; s < steps; ++s) {
        const int lines = along_k ? i * 8 + s * 4 : s * step<T> + i;
        if (!whole) large[s][i] = {};
        if (whole || k + (along_k ? 0 : lines) < x.k)
          large[s][i] = __ldcs(reinterpret_cast<const uint4*>(from + lines * x.large_ld));
      }
#pragma unroll
    for (int s = 0; s < steps; ++s) small[s].template fetch<whole>(x, first + s * step<T> + lane % 4 * chunk<T>, lane);
  }

  /// Adds the products of group `i`.
  template <int i>
  __device__ void multiply(float (&sum)[4], int lane) const {
    if constexpr (along_k) {
      const auto [first, second] = exchanged(large[0][i], large[1][i], lane / 4 % 2 == 1);
      multiply(sum, small[0], {first.x, first.y, first.z, first.w});
      multiply(sum, small[1], {second.x, second.y, second.z, second.w});
    } else {
#pragma unroll
      for (int s = 0; s < steps; ++s) {
        unsigned along[4];
        column_of<i>(large[s], along);
        multiply(sum, small[s], along);
      }
    }
  }
  template <int... i>
  __device__ void add_to(float (&sum)[groups][4], int lane, std::integer_sequence<int, i...>) const {
    (multiply<i>(sum[i], lane), ...);
  }
  __device__ void add_to(float (&sum)[groups][4], int lane) const {
    add_to(sum, lane, std::make_integer_sequence<int, groups>());
  }

 private:
  /// Exchanges chunks between lanes that differ in bit 2. `above` holds four lines: lanes with an even lane / 4 have
  /// the first halves, the others have the second halves. `below` holds the next four lines, in the same order. Each
  /// lane sends one of its two chunks to the other, and has then a chunk of both halves of one line.
  static __device__ Halves exchanged(const uint4& above, const uint4& below, bool odd) {
    const uint4 mine = odd ? above : below;
    const auto other = [](unsigned word) { return __shfl_xor_sync(~0U, word, 4); };
    const uint4 got{other(mine.x), other(mine.y), other(mine.z), other(mine.w)};
    return {odd ? got : above, odd ? below : got};
  }
  static __device__ void multiply(float (&sum)[4], const SmallChunks<T, reads>& small, const unsigned (&along)[4]) {
    const auto r = [](unsigned bits) { return rounded<T>(bits); };
    const auto& [low, high] = small.vector;
    multiply_in_warp<T>(sum, r(low.x), r(high.x), r(low.y), r(high.y), r(along[0]), r(along[1]));
    multiply_in_warp<T>(sum, r(low.z), r(high.z), r(low.w), r(high.w), r(along[2]), r(along[3]));
  }
};

#endif

} // namespace tessera::cuda::few_vectors
