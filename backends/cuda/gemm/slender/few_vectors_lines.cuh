#pragma once

/// What a team of warps copies for itself and reads again for FMAs: vectors along k of an f32 operand, as they are
/// stored. For panel_ffma.

#include "few_vectors_strict.cuh"

namespace tessera::cuda::few_vectors {

constexpr int stage_k = 32;   ///< k of a stage
constexpr int team_size = 64; ///< threads

/// So many vectors' elements for the k of a stage, as they are stored: a line a vector if they lie along k, else a line
/// a k. Of lines along k chunk c of 16 bytes is at c ^ line % 8: lanes read the same chunk of several lines.
template <bool along_k, int vectors>
struct alignas(128) F32Lines {
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

/// What a thread copies of an operand's stages: `width` neighbours of some lines. Of the small operand, vectors that do
/// not exist are left out; nobody stores their results.
template <bool along_k, int vectors, int width>
class F32Copies {
  using Lines = F32Lines<along_k, vectors>;
  static constexpr int threads = Lines::length / width, together = team_size / threads; ///< of a line; lines at once
  static constexpr bool is_small = vectors == few;

 public:
  static constexpr int count = Lines::lines / together; ///< copies of a stage

  /// Of the vectors from `first` on, and k from `k` on.
  __device__ F32Copies(const Vectors<float>& x, int first, int k, int thread) : step_(together * 4 * x.ld) {
    const int line = thread / threads, position = thread % threads * width;
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
  int lines_; ///< that exist, from the thread's first one on
  const float* from_;
  Index step_, back_; ///< bytes
};

/// The stage in which k ends after `left`, behind them `padding`. One by one: that is once a team.
template <bool along_k, int vectors>
__device__ void start_last(const Vectors<float>& x, int first, int k, int left, unsigned to, int thread,
                           float padding) {
  using Lines = F32Lines<along_k, vectors>;
#pragma unroll 1
  for (int e = thread; e < vectors * stage_k; e += team_size) {
    const int line = e / Lines::length, position = e % Lines::length;
    const int vector = first + (along_k ? line : position), p = along_k ? position : line;
    const unsigned at = to + Lines::place(line, position);
    if (p >= left)
      asm volatile("st.shared.f32 [%0], %1;" ::"r"(at), "f"(padding) : "memory");
    else
      start_copy<4>(at, x.data + (along_k ? vector * x.ld + k + p : (k + p) * x.ld + vector), vector < x.count);
  }
}

/// `each` of an operand's vectors for four k; the vectors of `places` lanes follow one another.
template <bool along_k, int vectors, int each, int places>
class VectorFragment {
  using Lines = F32Lines<along_k, vectors>;

 public:
  /// The one of a lane's vectors, of those from `first` on, that is at `place` of `places`.
  static __device__ int vector(int i, int first, int place) {
    return first + (along_k ? place + i * places : place * each + i);
  }
  /// Where that lane begins to read.
  static __device__ unsigned begin(int first, int place) {
    return along_k ? Lines::place(first + place, 0) : Lines::place(0, first + place * each);
  }

  /// The k from 4·group on of the stage at `from`, which begin() has been added to.
  __device__ void read(unsigned from, int group) {
    if constexpr (along_k) {
#pragma unroll
      for (int i = 0; i < each; ++i)
        read_four(x_[i], (from ^ (group * 16 ^ Lines::turn_of(i * places))) + i * places * Lines::bytes);
    } else {
#pragma unroll
      for (int p = 0; p < 4; ++p) {
        const unsigned at = from + (group * 4 + p) * Lines::bytes;
        if constexpr (each == 4)
          read_four(x_[p], at);
        else
          asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x_[p][0]), "=f"(x_[p][1]) : "r"(at));
      }
    }
  }
  __device__ float at(int i, int p) const { return along_k ? x_[i][p] : x_[p][i]; }

 private:
  static_assert(each == 2 || each == 4);

  __device__ static void read_four(float* to, unsigned at) {
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
                 : "r"(at));
  }

  float x_[along_k ? each : 4][along_k ? 4 : each];
};

#endif

} // namespace tessera::cuda::few_vectors
