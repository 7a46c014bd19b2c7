#pragma once

/// The copies of few_vectors_dmma: a warp copies 16 vectors of an f64 operand, as they are stored, into its own shared
/// memory, from which it reads the fragments of its matrix instructions.

#include "few_vectors_strict.cuh"

namespace tessera::cuda::few_vectors {

constexpr int depth = 16; ///< k of one instruction

/// The elements of 16 vectors for the k of one instruction, in lines of 128 bytes along k or across, as they are
/// stored. The 16-byte chunk c of line i is at c ^ 2·(i % 4), so that neither way of reading fragments meets a bank
/// twice.
struct alignas(128) F64Lines {
  double at[16 * 16];
};

#if __CUDA_ARCH__ >= 900

/// Returns a byte offset in F64Lines.
__device__ inline unsigned place_in_line(int line, int position) {
  return static_cast<unsigned>(line * 128 + (position / 2 ^ line % 4 * 2) * 16 + position % 2 * 8);
}
template <bool along_k>
__device__ unsigned place_of(int vector, int k) {
  return along_k ? place_in_line(vector, k) : place_in_line(k, vector);
}
__device__ inline double read(unsigned from) {
  double x;
  asm volatile("ld.shared.f64 %0, [%1];" : "=d"(x) : "r"(from));
  return x;
}
/// Copies `there` bytes and fills the rest with zeros. This is one instruction, where __pipeline_memcpy_async has a
/// branch for each number.
template <int bytes>
__device__ void start_copy(unsigned to, const double* from, int there) {
  if constexpr (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(there) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(there) : "memory");
}

/// A lane's copies of an operand: `width` neighbours of some lines for each stage. Lines beyond the last vector are
/// copies of the last one, and their results are not stored.
template <bool along_k, int width>
class F64Copies {
  /// Lanes that share a line, and lines that a warp copies at once.
  static constexpr int lanes = 16 / width, lines = 32 / lanes;

 public:
  /// Prepares copies of the 16 vectors from `first` on, from k `k` on.
  __device__ F64Copies(const Vectors<double>& x, int first, int k, int lane)
      : data_(x.data),
        line_(lane / lanes),
        position_(lane % lanes * width),
        exists_(along_k || first + position_ < x.count),
        advance_(along_k ? depth : depth * x.ld) {
#pragma unroll
    for (int i = 0; i < 16 / lines; ++i) {
      const int line = line_ + i * lines;
      from_[i] = along_k ? x.data + min(first + line, x.count - 1) * x.ld + k + position_
                         : x.data + (k + line) * x.ld + first + position_;
    }
  }
  /// Copies the next stage; it has zeros where k is not one of the `left` remaining ones.
  __device__ void start(unsigned to, int left) {
    if (!exists_) return;
#pragma unroll
    for (int i = 0; i < 16 / lines; ++i) {
      const int line = line_ + i * lines;
      const int there = along_k ? min(max(left - position_, 0), width) : line < left ? width : 0;
      const double* const from = there > 0 ? from_[i] : data_; // it is an address within the operand in any case
      start_copy<width * 8>(to + place_in_line(line, position_), from, there * 8);
      from_[i] += advance_;
    }
  }

 private:
  const double* data_;
  int line_, position_;
  bool exists_;
  Index advance_;
  const double* from_[16 / lines];
};

#endif

} // namespace tessera::cuda::few_vectors
