#pragma once

/// Stages of operands in shared memory for a warp's matrix instructions. A stage has 128 bytes of k: 64 elements of 16
/// bits, or 32 of f32. It holds an operand as it lies in memory: a line for each row with all k of the stage; or, where
/// rows are neighbours, boxes with a line for each k and up to 128 bytes of rows. The 16-byte chunks of a line are
/// permuted, so that neither copies nor fragments meet in a bank.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "cuda/gemm/common/operands.cuh"
#include "cuda/gemm/common/tile_loader.cuh"
#include "cuda/gemm/common/warp_mma.cuh"

namespace tessera::cuda::warp_mma {

constexpr int depth_bytes = 128, chunk_bytes = 16; ///< bytes of k in a stage, and of a vector

/// An operand, line by line as it is stored.
struct StoredLines {
  const char* data;
  Index pitch;       ///< bytes from one line to the next
  int lines, length; ///< lines, and elements of a line
  bool vectors;      ///< lines begin at multiples of 16 bytes
};

#if __CUDA_ARCH__ >= 800

/// Copies `size` bytes to shared memory.
template <int size>
__device__ void start_copy(unsigned to, const char* from) {
  if constexpr (size == chunk_bytes)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(size) : "memory");
}
/// Copies `size` bytes to shared memory, of which `left` are there at most; the others become zeros.
template <int size>
__device__ void start_copy(unsigned to, const char* from, int left) {
  const int there = max(0, min(left, size));
  if constexpr (size == chunk_bytes)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(there) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %3, %2;" ::"r"(to), "l"(from), "r"(there), "n"(size)
                 : "memory");
}

/// How a stage of `rows` rows of an operand of T lies in shared memory.
template <class T, int rows, Along along>
struct PanelLayout {
  static constexpr int size = sizeof(T);
  static constexpr int bytes = rows * depth_bytes;
  static constexpr int line = along == Along::K ? depth_bytes : std::min(rows * size, 128); ///< bytes of a line
  static constexpr int lines = along == Along::K ? rows : depth_bytes / size;               ///< of a box
  static constexpr int wide = line / size;                                                  ///< elements of a line

  /// Returns what the offset of each byte of line l is combined with by exclusive or. Neighbouring lines that are read
  /// at once have their chunks in different banks; where elements are read one by one, a warp reads two chunks of four
  /// lines.
  static constexpr __device__ int swizzle(int l) {
    return l / (128 / line) * (along == Along::Outer && size == 4 ? 2 : 1) * chunk_bytes % line;
  }
  /// Returns the offset of a byte of line l.
  static __device__ int place(int l, int byte) { return l * line + (byte ^ swizzle(l)); }
};

/// Copies stages of a block's rows of an operand, one after the other along k: vectors of 16 bytes or, where lines are
/// not aligned, element by element.
template <class T, int rows, int threads, Along along, bool vectors>
class PanelCopies {
  using Layout = PanelLayout<T, rows, along>;
  static constexpr int size = sizeof(T), depth = depth_bytes / size;
  static constexpr int piece = vectors ? chunk_bytes : size, of_line = Layout::line / piece;
  static constexpr int step = threads / of_line; ///< lines that the block copies at once
  static constexpr int each = Layout::bytes / piece / threads;
  static_assert(each * threads * piece == Layout::bytes && Layout::lines % step == 0);

 public:
  /// Begins with the row `first` and with `k`. `thread` counts the threads that copy a panel.
  __device__ PanelCopies(const StoredLines& x, Index first, Index k, int thread)
      : line_(thread / of_line),
        byte_(thread % of_line * piece),
        stride_(step * x.pitch),
        to_next_(along == Along::K ? depth_bytes : depth * x.pitch),
        k_left_(static_cast<int>((along == Along::K ? x.length : x.lines) - k)),
        rows_left_(static_cast<int>((along == Along::K ? x.lines : x.length) - first)),
        at_(x.data + ((along == Along::K ? first : k) + line_) * x.pitch + (along == Along::K ? k : first) * size +
            byte_),
        place_(Layout::place(line_, byte_)) {}

  /// Starts the copies of the panel.
  __device__ void start(unsigned to) const {
    if (k_left_ >= depth && (along == Along::K || rows_left_ >= rows))
      start_all<true>(to);
    else
      start_all<false>(to);
  }
  /// Goes on by `panels` panels.
  __device__ void advance(int panels) {
    at_ += panels * to_next_;
    k_left_ -= panels * depth;
  }

 private:
  /// `whole`: all k of the stage are there and, where lines lie across, all rows.
  template <bool whole>
  __device__ void start_all(unsigned to) const {
#pragma unroll
    for (int i = 0; i < each; ++i) {
      const int box = i * step / Layout::lines, l = i * step % Layout::lines; // and line_ more
      const unsigned place = to + (place_ ^ Layout::swizzle(l)) + i * step * Layout::line;
      const char* const from = at_ + l / step * stride_ + box * Layout::line;
      if constexpr (along == Along::K) {
        if (line_ + l >= rows_left_) continue; // such rows have no results
        if constexpr (whole)
          start_copy<piece>(place, from);
        else
          start_copy<piece>(place, from, k_left_ * size - byte_);
      } else if constexpr (whole) {
        start_copy<piece>(place, from);
      } else {
        start_copy<piece>(place, from, line_ + l < k_left_ ? (rows_left_ - box * Layout::wide) * size - byte_ : 0);
      }
    }
  }

  const int line_, byte_;        ///< the thread's first piece in a stage
  const Index stride_, to_next_; ///< bytes from piece to piece of a box, and from stage to stage
  int k_left_, rows_left_;
  const char* at_;  ///< the thread's first piece of the next stage
  const int place_; ///< its offset in shared memory
};

/// Where a lane finds its fragments of a stage: 16 rows and a step of 32 bytes of k, in four registers. These are the
/// first and the second 8 rows of the first half of the step, then of the second half; or, with `halves_first`, both
/// halves of the first 8 rows, then of the second. A warp's rows begin at `row`, which is a multiple of their number.
template <class T, int rows, Along along, bool halves_first>
class FragmentPlace {
  using Layout = PanelLayout<T, rows, along>;
  static constexpr bool singly = along == Along::Outer && sizeof(T) == 4; ///< no instruction transposes 32 bits

 public:
  __device__ FragmentPlace(int row, int lane) {
    const int upper = halves_first ? lane / 16 : lane / 8 % 2, later = halves_first ? lane / 8 % 2 : lane / 16;
    if constexpr (along == Along::K) {
      base_ = Layout::place(row + upper * 8 + lane % 8, later * 16);
    } else {
      const int in_box = row % Layout::wide * Layout::size;
      base_ = row / Layout::wide * Layout::lines * Layout::line +
              (singly ? Layout::place(lane % 4, in_box + lane / 4 * 4)
                      : Layout::place(later * 8 + lane % 8, in_box + upper * 16));
    }
    asm("" : "+r"(base_)); // otherwise the compiler computes all of it anew for each fragment
  }
  /// Reads fragment i of the warp's rows.
  __device__ void read(unsigned stage, int i, int step, unsigned (&to)[4]) const {
    // The swizzle is the same for all fragments, so that the bits of a place that it concerns change by exclusive or.
    const unsigned at = along == Along::K ? (base_ ^ step * 32) + i * 16 * Layout::line
                                          : (base_ ^ i * 16 % Layout::wide * Layout::size) +
                                                i * 16 / Layout::wide * Layout::lines * Layout::line +
                                                step * 32 / Layout::size * Layout::line;
    if constexpr (singly) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int upper = halves_first ? e / 2 : e % 2, later = halves_first ? e % 2 : e / 2;
        asm volatile("ld.shared.b32 %0, [%1];"
                     : "=r"(to[e])
                     : "r"(stage + (at ^ upper * 32) + later * 4 * Layout::line));
      }
    } else {
      read_matrices<along == Along::Outer>(stage + at, to);
    }
  }

 private:
  unsigned base_;
};

#endif

} // namespace tessera::cuda::warp_mma
