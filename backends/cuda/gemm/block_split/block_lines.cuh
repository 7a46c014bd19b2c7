#pragma once

/// A block's 64 rows of op(A), or columns of op(B), of one chunk of k: read from memory into registers, scaled, split
/// and written to shared memory as the matrix units read them. "Lines" are rows of op(A) and columns of op(B) alike.
///
/// The matrix units take the k of a step of 16 in any order, if it is one order for both operands. Here the first 16
/// bytes of a step hold k = 0 to 3 and 8 to 11, and the others 4 to 7 and 12 to 15. So where elements of a line are
/// neighbours in memory, two lanes read 32 bytes at once.
///
/// The number of instructions limits the kernel, more than memory does. So no line is checked: a thread whose line lies
/// outside of the operand reads the last line in its place, and no warp stores results of it. Warps that have no line
/// of the operand do nothing.

#include "cuda/gemm/common/emulated_fp16x3/chunk_scales.cuh"
#include "cuda/gemm/common/tile_loader.cuh"
#include "params.cuh"

namespace tessera::cuda::block_split {

/// In shared memory a term of an operand has groups of 8 lines by 16 bytes, 128 bytes each. Groups that follow one
/// another along k are 144 bytes apart, so that lanes which write them meet no bank twice.
constexpr unsigned along_k_bytes = 144, group_bytes = 2 * steps * along_k_bytes, line_bytes = group_bytes / 8;
constexpr unsigned term_bytes = tile_lines * line_bytes;

/// An operand, line by line as the product needs it.
struct StridedLines {
  const float* data;
  Index line_stride, k_stride;
  int lines, k;
  bool vectors;
};

/// Which of the tile's lines have NaN or Inf.
struct UnfitOfTile {
  unsigned char rows[tile_lines], columns[tile_lines];
  int any;
};

/// Where the block's lines of an operand go in shared memory.
struct SplitLines {
  char* terms;                  ///< the larger terms of all lines, and then the smaller ones
  float* factors;               ///< what undoes each line's scale
  float (*largest)[tile_lines]; ///< by step of k, where lines are neighbours in memory
  unsigned char* unfit;         ///< set for a line with NaN or Inf
  int* any_unfit;

  __device__ void set_factor(int line, const wgmma::ChunkScale& chunk) const {
    factors[line] = chunk.factor;
    if (isnan(chunk.factor)) [[unlikely]] {
      unfit[line] = 1;
      *any_unfit = 1;
    }
  }
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Splits half a step of a line.
template <int terms>
__device__ void write_terms(const float (&x)[8], float scale, char* to) {
  unsigned high[4], low[4];
#pragma unroll
  for (int pair = 0; pair < 4; ++pair)
    if constexpr (terms == 2)
      wgmma::split_pair(x[pair * 2], x[pair * 2 + 1], scale, high[pair], low[pair]);
    else
      high[pair] = wgmma::rounded_pair(x[pair * 2] * scale, x[pair * 2 + 1] * scale);
  *reinterpret_cast<uint4*>(to) = make_uint4(high[0], high[1], high[2], high[3]);
  if constexpr (terms == 2) *reinterpret_cast<uint4*>(to + term_bytes) = make_uint4(low[0], low[1], low[2], low[3]);
}

/// Returns the place of half a step of a line.
__device__ inline unsigned place_of(int line, int half_step) {
  return line / 8 * group_bytes + half_step * along_k_bytes + line % 8 * 16;
}

template <Along along>
class BlockLines;

/// Elements of a line are neighbours in memory. Eight lanes have a line, each with two halves of steps.
template <>
class BlockLines<Along::K> {
 public:
  /// The block's lines begin at `first`, and its chunks at k = `begin`.
  __device__ BlockLines(const StridedLines& x, Index first, int begin)
      : at_(x.data + min(first + line(), Index{x.lines - 1}) * x.line_stride + begin + lane_k()),
        left_(x.k - begin - lane_k()),
        k_(x.k),
        vectors_(x.vectors),
        there_(first + static_cast<int>(threadIdx.x) / 32 * 4 < x.lines) {}

  /// Reads the next chunk. What is outside of k is zero.
  __device__ void read() {
    const bool whole = left_ + lane_k() >= wgmma::chunk_k;
    if (there_) {
      if (vectors_ && (whole || k_ % 4 == 0)) // a lane's vectors are all inside of k, or outside
        whole ? read_vectors<true>() : read_vectors<false>();
      else
        whole ? read_singly<true>() : read_singly<false>();
    }
    at_ += wgmma::chunk_k;
    left_ -= wgmma::chunk_k;
  }
  __device__ void find_largest(const SplitLines&) {}

  template <int terms>
  __device__ void split(const SplitLines& to) {
    if (!there_) return;
    float largest = 0;
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int e = 0; e < 8; ++e) largest = wgmma::larger(largest, value_[half][e]);
#pragma unroll
    for (int other = 1; other < 8; other *= 2) largest = wgmma::larger(largest, __shfl_xor_sync(~0U, largest, other));
    const wgmma::ChunkScale chunk(__float_as_uint(largest));
    if (lane() == 0) to.set_factor(line(), chunk);
#pragma unroll
    for (int half = 0; half < 2; ++half)
      write_terms<terms>(value_[half], chunk.scale, to.terms + place_of(line(), lane() + half * 8));
  }

 private:
  static_assert(threads == 8 * tile_lines);

  static __device__ int lane() { return static_cast<int>(threadIdx.x) % 8; }
  static __device__ int line() { return static_cast<int>(threadIdx.x) / 8; }
  static __device__ int lane_k() { return lane() / 2 * 16 + lane() % 2 * 4; }
  template <bool whole>
  __device__ void read_vectors() {
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      const int p = v / 2 * 64 + v % 2 * 8;
      float4 four{};
      if (whole || p < left_) four = __ldg(reinterpret_cast<const float4*>(at_ + p));
      float(&to)[8] = value_[v / 2];
      to[v % 2 * 4] = four.x;
      to[v % 2 * 4 + 1] = four.y;
      to[v % 2 * 4 + 2] = four.z;
      to[v % 2 * 4 + 3] = four.w;
    }
  }
  template <bool whole>
  __device__ void read_singly() {
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        const int p = half * 64 + e / 4 * 8 + e % 4;
        value_[half][e] = whole || p < left_ ? __ldg(at_ + p) : 0.0f;
      }
  }

  const float* at_;
  int left_; ///< k from the lane's first one on
  const int k_;
  const bool vectors_;
  const bool there_; ///< the warp has a line that exists
  float value_[2][8];
};

/// Lines are neighbours in memory. A warp has a step of k of 32 lines.
template <>
class BlockLines<Along::Outer> {
 public:
  __device__ BlockLines(const StridedLines& x, Index first, int begin)
      : at_(reinterpret_cast<const char*>(x.data + min(first + line(), Index{x.lines - 1}) +
                                          (begin + step() * 16) * x.k_stride)),
        k_bytes_(static_cast<unsigned>(x.k_stride * sizeof(float))),
        left_(x.k - begin - step() * 16),
        there_(first + line() / 32 * 32 < x.lines) {}

  __device__ void read() {
    if (there_) left_ + step() * 16 >= wgmma::chunk_k ? read_chunk<true>() : read_chunk<false>();
    at_ += Index{wgmma::chunk_k} * k_bytes_;
    left_ -= wgmma::chunk_k;
  }
  /// Writes the largest magnitudes of this warp's step. split() needs the magnitudes of all warps.
  __device__ void find_largest(const SplitLines& to) {
    if (!there_) return;
    float largest = 0;
#pragma unroll
    for (int e = 0; e < 16; ++e) largest = wgmma::larger(largest, value_[e / 8][e % 8]);
    to.largest[step()][line()] = largest;
  }
  template <int terms>
  __device__ void split(const SplitLines& to) {
    if (!there_) return;
    float largest = 0;
#pragma unroll
    for (int s = 0; s < steps; ++s) largest = wgmma::larger(largest, to.largest[s][line()]);
    const wgmma::ChunkScale chunk(__float_as_uint(largest));
    if (step() == 0) to.set_factor(line(), chunk);
#pragma unroll
    for (int half = 0; half < 2; ++half)
      write_terms<terms>(value_[half], chunk.scale, to.terms + place_of(line(), step() * 2 + half));
  }

 private:
  static_assert(threads / 32 == steps * (tile_lines / 32));

  static __device__ int step() { return static_cast<int>(threadIdx.x) / 32 % steps; }
  static __device__ int line() {
    return static_cast<int>(threadIdx.x) / (32 * steps) * 32 + static_cast<int>(threadIdx.x) % 32;
  }
  template <bool whole>
  __device__ void read_chunk() {
#pragma unroll
    for (int p = 0; p < 16; ++p) {
      const char* from; // one instruction for each; the compiler would add k_bytes_ again and again, and wait each time
      asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(from) : "r"(k_bytes_), "r"(p), "l"(at_));
      value_[p / 4 % 2][p / 8 * 4 + p % 4] = whole || p < left_ ? __ldg(reinterpret_cast<const float*>(from)) : 0.0f;
    }
  }

  const char* at_;
  const unsigned k_bytes_;
  int left_; ///< k from the warp's step on
  const bool there_;
  float value_[2][8];
};

#endif

} // namespace tessera::cuda::block_split
