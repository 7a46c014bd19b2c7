#pragma once

/// What a warp copies for itself and reads again for FMAs: vectors along k of an f32 operand, as they are stored. For
/// panel_ffma.

#include "panel_strict.cuh"

namespace tessera::cuda::panels {

constexpr int stage_k = 32; ///< k of a stage

/// So many vectors' elements for the k of a stage, as they are stored: a line a vector if they lie along k, else a line
/// a k. Of lines along k chunk c of 16 bytes is at c ^ line % 8: lanes read the same chunk of several lines.
template <bool along_k, int vectors>
struct alignas(128) FloatLines {
  static constexpr int length = along_k ? stage_k : vectors, lines = along_k ? vectors : stage_k;
  static constexpr int bytes = length * 4; ///< of a line
  float at[lines][length];

  /// How the chunks of a line are turned: to be xored to a place.
  static constexpr __host__ __device__ unsigned turn_of(int line) {
    return along_k ? static_cast<unsigned>(line % 8 * 16) : 0;
  }
  /// Where, in bytes.
  static constexpr __host__ __device__ unsigned place(int line, int position) {
    return static_cast<unsigned>(line * bytes + position * 4) ^ turn_of(line);
  }
};

#if __CUDA_ARCH__ >= 900

/// If it is wanted: without a branch.
template <int bytes>
__device__ void start_copy(unsigned to, const float* from, bool wanted) {
  if constexpr (bytes == 16)
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; @p cp.async.cg.shared.global [%0], [%1], 16; }" ::"r"(to),
                 "l"(from), "r"(static_cast<int>(wanted))
                 : "memory");
  else
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; @p cp.async.ca.shared.global [%0], [%1], 4; }" ::"r"(to),
                 "l"(from), "r"(static_cast<int>(wanted))
                 : "memory");
}

/// As it stands here: else each address is worked out again from the first one.
__device__ inline void move(const float*& x, Index bytes) { asm("add.s64 %0, %0, %1;" : "+l"(x) : "l"(bytes)); }

/// What a lane copies of an operand's stages: `width` neighbours of some lines. Of the small operand, vectors that do
/// not exist are left out; nobody stores their results.
template <bool along_k, int vectors, int width>
class LineCopies {
  using Lines = FloatLines<along_k, vectors>;
  static constexpr int lanes = Lines::length / width, together = 32 / lanes; ///< of a line, and lines copied at once
  static constexpr bool is_small = vectors == few;

 public:
  static constexpr int count = Lines::lines / together; ///< copies of a stage

  /// Of the vectors from `first` on, and k from `k` on.
  __device__ LineCopies(const Vectors<float>& x, int first, int k, int lane) : step_(together * 4 * x.ld) {
    const int line = lane / lanes, position = lane % lanes * width;
    to_ = Lines::place(line, position);
    from_ = x.data + (along_k ? (first + line) * x.ld + k + position : (k + line) * x.ld + first + position);
    back_ = (stage_k - vectors * x.ld) * 4;
    lines_ = along_k ? x.count - line : position < x.count ? Lines::lines : 0;
  }
  /// Copy i of a stage that is whole, or nothing; all are to be called in order.
  __device__ void start(int i, unsigned to, bool whole) {
    const int line = i * together;
    start_copy<width * 4>(((to + to_) ^ Lines::turn_of(line)) + line * Lines::bytes, from_,
                          whole && (!is_small || line < lines_));
    move(from_, step_);
    if (along_k && i + 1 == count) move(from_, back_);
  }

 private:
  unsigned to_;
  int lines_; ///< that exist, from the lane's first one on
  const float* from_;
  Index step_, back_; ///< bytes
};

/// The stage in which k ends after `left`, behind them `padding`. One by one: that is once a warp.
template <bool along_k, int vectors>
__device__ void start_last(const Vectors<float>& x, int first, int k, int left, unsigned to, int lane, float padding) {
  using Lines = FloatLines<along_k, vectors>;
#pragma unroll 1
  for (int e = lane; e < vectors * stage_k; e += 32) {
    const int line = e / Lines::length, position = e % Lines::length;
    const int vector = first + (along_k ? line : position), p = along_k ? position : line;
    const unsigned at = to + Lines::place(line, position);
    if (p >= left)
      asm volatile("st.shared.f32 [%0], %1;" ::"r"(at), "f"(padding) : "memory");
    else
      start_copy<4>(at, x.data + (along_k ? vector * x.ld + k + p : (k + p) * x.ld + vector), vector < x.count);
  }
}

/// Four of an operand's vectors for four k.
template <bool along_k, int vectors>
class Fragment {
  using Lines = FloatLines<along_k, vectors>;
  static constexpr int places = vectors / 4; ///< lanes that have other vectors

 public:
  /// The one of a lane's vectors that is at `place` of `places`.
  static __device__ int vector(int i, int place) { return along_k ? place + i * places : place * 4 + i; }
  /// Where the lane at `place` begins to read.
  static __device__ unsigned begin(int place) { return along_k ? Lines::place(place, 0) : Lines::place(0, place * 4); }

  /// The k from 4·group on of the stage at `from`, which begin() has been added to.
  __device__ void read(unsigned from, int group) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const unsigned at = along_k ? (from ^ (group * 16 ^ Lines::turn_of(i * places))) + i * places * Lines::bytes
                                  : from + (group * 4 + i) * Lines::bytes;
      asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                   : "=f"(x_[i][0]), "=f"(x_[i][1]), "=f"(x_[i][2]), "=f"(x_[i][3])
                   : "r"(at));
    }
  }
  __device__ float at(int i, int p) const { return along_k ? x_[i][p] : x_[p][i]; }

 private:
  float x_[4][4];
};

#endif

} // namespace tessera::cuda::panels
