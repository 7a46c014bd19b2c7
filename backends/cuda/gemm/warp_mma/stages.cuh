#pragma once

/// Stages of operands in shared memory for a warp's matrix instructions. A stage has 128 bytes of k: 64 elements of 16
/// bits, or 32 of f32. It holds an operand as it lies in memory, in lines of 128 bytes: a line for each row with all k
/// of the stage; or, where rows are neighbours, boxes with a line for each k. The 16-byte chunk c of line l is at c ^ l
/// % 8, so that neither copies nor fragments meet in a bank.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/gemm/common/operands.cuh"
#include "cuda/gemm/common/tile_loader.cuh"
#include "cuda/gemm/common/warp_mma.cuh"

namespace tessera::cuda::warp_mma {

constexpr int line_bytes = 128, chunk_bytes = 16;

/// An operand whose lines begin at multiples of 16 bytes.
struct AlignedLines {
  const char* data;
  Index pitch;  ///< bytes from one line to the next
  Index lines;  ///< rows, or k where rows are neighbours
  Index length; ///< bytes of a line
};

#if __CUDA_ARCH__ >= 800

/// Copies 16 bytes to shared memory, of which `bytes` are there; the others become zeros.
__device__ inline void start_copy(unsigned to, const char* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

/// A block's `rows` rows of an operand of T, for one k of a stage after the other.
template <class T, int rows, int threads, Along along>
class OperandStages {
  static constexpr int elements = line_bytes / static_cast<int>(sizeof(T)); ///< of a line
  static constexpr int chunks = rows * line_bytes / chunk_bytes, each = chunks / threads;
  static_assert(chunks % threads == 0 && rows % elements == 0);

 public:
  static constexpr int bytes = rows * line_bytes;

  __device__ OperandStages(const AlignedLines& x, Index first) : x_(x), first_(first) {}

  /// Starts the copies of the stage that begins with k.
  __device__ void start(Index k, unsigned to) const {
#pragma unroll
    for (int i = 0; i < each; ++i) {
      const int c = static_cast<int>(threadIdx.x) + i * threads;
      const int line = c / 8, chunk = c % 8;
      // Where rows are neighbours, a box has `elements` lines and as many rows.
      const Index stored = along == Along::K ? first_ + line : k + line % elements;
      const Index byte = (along == Along::K ? k : first_ + line / elements * elements) * static_cast<Index>(sizeof(T)) +
                         chunk * chunk_bytes;
      const Index left = stored < x_.lines ? x_.length - byte : 0;
      const int here = static_cast<int>(left < 0 ? 0 : left < chunk_bytes ? left : chunk_bytes);
      start_copy(to + line * line_bytes + (chunk ^ line % 8) * chunk_bytes,
                 here > 0 ? x_.data + stored * x_.pitch + byte : x_.data, here);
    }
  }

 private:
  const AlignedLines& x_; ///< among the kernel's parameters
  Index first_;
};

/// Returns the address of a chunk in a stage.
__device__ inline unsigned place(unsigned stage, int line, int chunk) {
  return stage + line * line_bytes + (chunk ^ line % 8) * chunk_bytes;
}

/// Reads 16 rows, from `row` on, of one step of 32 bytes of k into four registers: the upper and the lower rows of the
/// first half of the step, then of the second half.
template <class T, Along along>
__device__ void read_fragment(unsigned stage, int row, int step, int lane, unsigned (&to)[4]) {
  if constexpr (along == Along::K) {
    read_matrices<false>(place(stage, row + lane % 16, step * 2 + lane / 16), to);
  } else if constexpr (sizeof(T) == 2) {
    const int r = row + lane / 8 % 2 * 8, k = step * 16 + lane / 16 * 8 + lane % 8;
    read_matrices<true>(place(stage, r / 64 * 64 + k, r % 64 / 8), to);
  } else { // there is no instruction that transposes elements of 32 bits
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int r = row + lane / 4 + i % 2 * 8, k = step * 8 + lane % 4 + i / 2 * 4;
      asm volatile("ld.shared.b32 %0, [%1];"
                   : "=r"(to[i])
                   : "r"(place(stage, r / 32 * 32 + k, r % 32 / 4) + r % 4 * 4));
    }
  }
}

#endif

} // namespace tessera::cuda::warp_mma
