#pragma once

/// The copies and reads of few_vectors_ffma: a team of warps copies vectors of an f32 operand, as they are stored, into
/// its own shared memory, and reads them again for FMAs.

#include "few_vectors_strict.cuh"

namespace tessera::cuda::few_vectors {

constexpr int stage_k = 32;   ///< k of a stage
constexpr int team_size = 64; ///< threads of a team

/// The elements of `vectors` vectors for the k of a stage, as they are stored: a line holds a vector if vectors lie
/// along k, otherwise it holds all vectors' elements of one k. In lines along k, the 16-byte chunk c is at c ^ line %
/// 8, because lanes read the same chunk of several lines.
template <bool along_k, int vectors>
struct alignas(128) F32Lines {
  static constexpr int length = along_k ? stage_k : vectors, lines = along_k ? vectors : stage_k;
  static constexpr int bytes = length * 4; ///< bytes of a line
  float at[lines][length];

  /// Returns the number by which the chunks of a line are permuted; it is xored to a place.
  static constexpr __host__ __device__ unsigned turn_of(int line) {
    return along_k ? static_cast<unsigned>(line % 8 * 16) : 0;
  }
  /// Returns a byte offset.
  static constexpr __host__ __device__ unsigned place(int line, int position) {
    return static_cast<unsigned>(line * bytes + position * 4) ^ turn_of(line);
  }
};

#if __CUDA_ARCH__ >= 900

/// Copies `bytes` bytes if that is wanted, without a branch.
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

/// Advances a pointer at this place in the code. Otherwise the compiler would compute each address again from the
/// first.
__device__ inline void move(const float*& x, Index bytes) { asm("add.s64 %0, %0, %1;" : "+l"(x) : "l"(bytes)); }

/// A thread's copies of an operand: `width` neighbours of some lines for each stage. Vectors of the small operand that
/// do not exist are left out, and their results are not stored.
template <bool along_k, int vectors, int width>
class F32Copies {
  using Lines = F32Lines<along_k, vectors>;
  /// Threads that share a line, and lines that a team copies at once.
  static constexpr int threads = Lines::length / width, together = team_size / threads;
  static constexpr bool is_small = vectors == few;

 public:
  static constexpr int count = Lines::lines / together; ///< copies of a stage

  /// Prepares copies of the vectors from `first` on, from k `k` on.
  __device__ F32Copies(const Vectors<float>& x, int first, int k, int thread) : step_(together * 4 * x.ld) {
    const int line = thread / threads, position = thread % threads * width;
    to_ = Lines::place(line, position);
    from_ = x.data + (along_k ? (first + line) * x.ld + k + position : (k + line) * x.ld + first + position);
    back_ = (stage_k - vectors * x.ld) * 4;
    lines_ = along_k ? x.count - first - line : first + position < x.count ? Lines::lines : 0;
  }
  /// Starts copy i of a stage, if the stage is whole; otherwise it starts nothing. It must be called for all i in
  /// order.
  __device__ void start(int i, unsigned to, bool whole) {
    const int line = i * together;
    start_copy<width * 4>(((to + to_) ^ Lines::turn_of(line)) + line * Lines::bytes, from_,
                          whole && (!is_small || line < lines_));
    move(from_, step_);
    if (along_k && i + 1 == count) move(from_, back_);
  }

 private:
  unsigned to_;
  int lines_; ///< lines that exist, from the thread's first one on
  const float* from_;
  Index step_, back_; ///< in bytes
};

/// Copies the stage in which k ends after `left` steps, and stores `padding` after them. It goes element by element,
/// because a team does it once.
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

/// A thread's fragment: `each` vectors of an operand for four k. The vectors of `places` lanes alternate along k, and
/// are consecutive across.
template <bool along_k, int vectors, int each, int places>
class VectorFragment {
  using Lines = F32Lines<along_k, vectors>;

 public:
  /// Returns vector i of the lane at `place` of `places`; the operand's vectors begin at `first`.
  static __device__ int vector(int i, int first, int place) {
    return first + (along_k ? place + i * places : place * each + i);
  }
  /// Returns the byte offset at which that lane begins to read.
  static __device__ unsigned begin(int first, int place) {
    return along_k ? Lines::place(first + place, 0) : Lines::place(0, first + place * each);
  }

  /// Reads the four k from 4·group on of a stage; `from` is the stage's address plus begin().
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
