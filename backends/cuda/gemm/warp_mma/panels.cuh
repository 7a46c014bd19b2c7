#pragma once

/// Panels of operands in shared memory for a warp's matrix instructions. A panel has 128 bytes of k: 64 elements of 16
/// bits, or 32 of f32. It holds an operand as it lies in memory: a line for each row with all k of the panel; or, where
/// rows are neighbours, boxes with a line for each k and up to 128 bytes of rows. The 16-byte chunks of a line are
/// permuted, so that neither copies nor fragments meet in a bank.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "cuda/gemm/common/operands.cuh"
#include "cuda/gemm/common/tile_loader.cuh"
#include "cuda/gemm/common/warp_mma.cuh"
#include "plan.hpp"

namespace tessera::cuda::warp_mma {

constexpr int chunk_bytes = 16; ///< bytes of a vector

/// An operand, line by line as it is stored.
struct StoredLines {
  const char* data;
  Index pitch;       ///< bytes from one line to the next
  int lines, length; ///< lines, and elements of a line
  bool vectors;      ///< lines begin at multiples of 16 bytes
};

/// How an operand's lines lie in a panel. Aligned: lines begin at multiples of 16 bytes in memory. Shifted: they begin
/// anywhere. They are copied by the aligned vectors that hold them, so that a line begins at the same distance from a
/// multiple of 16 bytes as in memory, and is one vector longer.
enum class Lines { Aligned, Shifted };

#if __CUDA_ARCH__ >= 800

/// Copies 16 bytes to shared memory.
__device__ inline void start_copy(unsigned to, const char* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
/// Copies 16 bytes to shared memory, of which `left` are there at most; the others become zeros.
__device__ inline void start_copy(unsigned to, const char* from, int left) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(max(0, min(left, chunk_bytes)))
               : "memory");
}

/// How a panel of `rows` rows of an operand of T lies in shared memory.
template <class T, int rows, Along along, Lines kind>
struct PanelLayout {
  static constexpr bool shifted = kind == Lines::Shifted;
  static constexpr int size = sizeof(T);
  static constexpr int data = along == Along::K ? depth_bytes : std::min(rows * size, 128); ///< bytes of a line
  /// Bytes from one line to the next. Four lines across are read at once, from different banks.
  static constexpr int line = data + (!shifted ? 0 : along == Along::Outer && data == 128 ? 32 : chunk_bytes);
  static constexpr int lines = along == Along::K ? rows : depth_bytes / size; ///< of a box
  static constexpr int boxes = rows * depth_bytes / (lines * data);
  static constexpr int wide = data / size; ///< elements of a line

  /// Returns what the offset of each byte of line l is combined with by exclusive or. Neighbouring lines that are read
  /// at once have their chunks in different banks; where elements are read one by one, a warp reads two chunks of four
  /// lines. Shifted lines need none, since they are longer.
  static constexpr __device__ int swizzle(int l) {
    return shifted ? 0 : l / (128 / line) * (along == Along::Outer && size == 4 ? 2 : 1) * chunk_bytes % line;
  }
  /// Returns the offset of a byte of line l.
  static __device__ int place(int l, int byte) { return l * line + (byte ^ swizzle(l)); }
};

/// Returns the bytes by which the line at `at` is shifted.
__device__ inline int shift_of(const char* at) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(at) % chunk_bytes);
}

/// Copies panels of a block's rows of an operand, one after the other along k, by vectors of 16 bytes.
template <class T, int rows, int threads, Along along, Lines kind>
class PanelCopies {
  using Layout = PanelLayout<T, rows, along, kind>;
  static constexpr int size = sizeof(T), depth = depth_bytes / size;
  static constexpr int of_line = Layout::data / chunk_bytes; ///< chunks, but for the additional one of shifted lines
  static constexpr int step = threads / of_line;             ///< lines that the threads copy at once
  static constexpr int all_lines = Layout::boxes * Layout::lines, each = all_lines / step;
  static_assert(each * step == all_lines && Layout::lines % step == 0);

 public:
  /// Begins with the row `first` and with `k`. `thread` counts the threads that copy a panel.
  __device__ PanelCopies(const StoredLines& x, Index first, Index k, int thread)
      : pitch_(x.pitch),
        to_next_(along == Along::K ? depth_bytes : depth * x.pitch),
        k_left_(static_cast<int>((along == Along::K ? x.length : x.lines) - k)),
        rows_left_(static_cast<int>((along == Along::K ? x.lines : x.length) - first)),
        at_(x.data + (along == Along::K ? first : k) * x.pitch + (along == Along::K ? k : first) * size),
        line_(thread / of_line),
        byte_(thread % of_line * chunk_bytes),
        place_(Layout::place(line_, byte_)),
        thread_(thread) {}

  /// Starts the copies of the panel.
  __device__ void start(unsigned to) const {
    constexpr int more = Layout::shifted ? chunk_bytes / size : 0; // elements that the additional chunk may hold
    const bool whole = along == Along::K ? k_left_ >= depth + more && rows_left_ >= rows
                                         : k_left_ >= depth && rows_left_ >= rows + more;
    if (whole)
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
  /// `whole`: all k of the panel and all rows are there, and so is what an additional chunk reads.
  template <bool whole>
  __device__ void start_all(unsigned to) const {
    const char* from = at_ + line_ * pitch_;
    const Index stride = step * pitch_;
#pragma unroll
    for (int i = 0; i < each; ++i) {
      const int box = i * step / Layout::lines, l = i * step % Layout::lines; // and line_ more
      if (i > 0) from = l == 0 ? at_ + line_ * pitch_ + box * Layout::data : from + stride;
      start_copy<whole>(to + (place_ ^ Layout::swizzle(l)) + i * step * Layout::line, from, line_ + l, box, byte_);
    }
    if constexpr (Layout::shifted) {
#pragma unroll
      for (int first = 0; first < all_lines; first += threads) { // the additional chunks, one a thread
        const int l = (first + thread_) % Layout::lines, box = (first + thread_) / Layout::lines;
        if (all_lines - first < threads && thread_ >= all_lines - first) break;
        start_copy<whole>(to + (first + thread_) * Layout::line + Layout::data, at_ + l * pitch_ + box * Layout::data,
                          l, box, Layout::data);
      }
    }
  }
  /// Starts to copy the chunk at `byte` of a line of a box; the line begins at `from`.
  template <bool whole>
  __device__ void start_copy(unsigned to, const char* from, int l, int box, int byte) const {
    const int shift = Layout::shifted ? shift_of(from) : 0;
    const char* const chunk = from - shift + byte;
    if constexpr (whole) {
      warp_mma::start_copy(to, chunk);
    } else if constexpr (along == Along::K) {
      if (l >= rows_left_) return; // such rows have no results
      warp_mma::start_copy(to, chunk, k_left_ * size + shift - byte);
    } else {
      const int there = min(Layout::data, (rows_left_ - box * Layout::wide) * size);
      warp_mma::start_copy(to, chunk, l < k_left_ ? there + shift - byte : 0);
    }
  }

  const Index pitch_, to_next_; ///< bytes from line to line, and from panel to panel
  int k_left_, rows_left_;
  const char* at_;                         ///< the block's first element of the panel
  const int line_, byte_, place_, thread_; ///< the thread's first chunk: line, byte in it, offset in shared memory
};

/// Where a lane finds its fragments of a panel: 16 rows and a step of 32 bytes of k, in four registers. These are the
/// first and the second 8 rows of the first half of the step, then of the second half; or, with `halves_first`, both
/// halves of the first 8 rows, then of the second. A warp's rows begin at `row`, which is a multiple of their number.
template <class T, int rows, Along along, Lines kind, bool halves_first>
class FragmentPlace {
  using Layout = PanelLayout<T, rows, along, kind>;
  static constexpr bool shifted = kind == Lines::Shifted;
  /// Says whether elements are read one by one: no instruction transposes 32 bits, or reads lines that begin anywhere.
  static constexpr bool singly = sizeof(T) == 4 && (along == Along::Outer || shifted);

 public:
  /// `first`: the block's first row.
  __device__ FragmentPlace(const StoredLines& x, Index first, int row, int lane) {
    const int upper = halves_first ? lane / 16 : lane / 8 % 2, later = halves_first ? lane / 8 % 2 : lane / 16;
    if constexpr (along == Along::K && shifted) {
      // Eight lines further the shift is the same.
      const int l = row + lane / 4;
      base_ = Layout::place(l, lane % 4 * 4) + shift_of(x.data + (first + l) * x.pitch);
    } else if constexpr (along == Along::K) {
      base_ = Layout::place(row + upper * 8 + lane % 8, later * chunk_bytes);
    } else {
      const int in_box = row % Layout::wide * Layout::size;
      base_ = row / Layout::wide * Layout::lines * Layout::line +
              (singly ? Layout::place(lane % 4, in_box + lane / 4 * 4)
                      : Layout::place(later * 8 + lane % 8, in_box + upper * chunk_bytes));
      if constexpr (shifted) base_ += shift_of(x.data + first * Layout::size + lane % 4 * x.pitch); // as four k further
    }
    asm("" : "+r"(base_)); // otherwise the compiler computes all of it anew for each fragment
  }
  /// Reads fragment i of the warp's rows.
  __device__ void read(unsigned panel, int i, int step, unsigned (&to)[4]) const {
    if constexpr (shifted && along == Along::K) {
#pragma unroll
      for (int e = 0; e < 4; ++e)
        load(panel + base_ + (i * 16 + upper(e) * 8) * Layout::line + step * 32 + later(e) * chunk_bytes, to[e]);
    } else if constexpr (singly) {
      const int box = i * 16 / Layout::wide, in_box = i * 16 % Layout::wide * 4;
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int across = in_box + upper(e) * 32;
        load(panel + (shifted ? base_ + across : base_ ^ across) + box * Layout::lines * Layout::line +
                 (step * 8 + later(e) * 4) * Layout::line,
             to[e]);
      }
    } else {
      // The swizzle is the same for all fragments, so that the bits of a place that it concerns change by exclusive or.
      const unsigned at = along == Along::K ? (base_ ^ step * 32) + i * 16 * Layout::line
                                            : (base_ ^ i * 16 % Layout::wide * Layout::size) +
                                                  i * 16 / Layout::wide * Layout::lines * Layout::line +
                                                  step * 32 / Layout::size * Layout::line;
      read_matrices<along == Along::Outer>(panel + at, to);
    }
  }

 private:
  static constexpr __device__ int upper(int e) { return halves_first ? e / 2 : e % 2; }
  static constexpr __device__ int later(int e) { return halves_first ? e % 2 : e / 2; }
  __device__ static void load(unsigned from, unsigned& to) {
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(to) : "r"(from));
  }

  unsigned base_;
};

#endif

} // namespace tessera::cuda::warp_mma
