#pragma once

/// Panels of operands in shared memory for a warp's matrix instructions. A panel has 128 bytes of k: 64 elements of 16
/// bits, or 32 of f32. It holds an operand as it lies in memory: a line for each row with all k of the panel; or, where
/// rows are neighbours, boxes with a line for each k and up to 128 bytes of rows. The 16-byte chunks of a line are
/// permuted, so that neither copies nor fragments meet in a bank.

#include <algorithm>

#include "cuda/gemm/common/operands.cuh"
#include "cuda/gemm/common/panel_ring/copies.cuh"
#include "cuda/gemm/common/warp_mma.cuh"
#include "plan.hpp"

namespace tessera::cuda::warp_mma {

/// How an operand's lines lie in a panel. Aligned: lines begin at multiples of 16 bytes in memory. Shifted: they begin
/// anywhere.
enum class Lines { Aligned, Shifted };

#if __CUDA_ARCH__ >= 800

using panel_ring::shift_of;
using panel_ring::StoredLines;

/// How a panel of `rows` rows of an operand of T lies in shared memory.
template <class T, int rows_, Along along_, Lines kind>
struct PanelLayout {
  static constexpr Along along = along_;
  static constexpr bool shifted = kind == Lines::Shifted, negative_padding = false;
  static constexpr int rows = rows_, size = sizeof(T), depth = depth_bytes / size;
  static constexpr int chunk = panel_ring::vector_bytes, least_chunk = chunk;
  static constexpr int data = along == Along::K ? depth_bytes : std::min(rows * size, 128); ///< bytes of a line
  /// Bytes from one line to the next. Four lines across are read at once, from different banks.
  static constexpr int line = data + (!shifted ? 0 : along == Along::Outer && data == 128 ? 32 : chunk);
  static constexpr int lines = along == Along::K ? rows : depth_bytes / size; ///< of a box
  static constexpr int boxes = rows * depth_bytes / (lines * data);
  static constexpr int wide = data / size; ///< elements of a line

  /// Returns what the offset of each byte of line l is combined with by exclusive or. Neighbouring lines that are read
  /// at once have their chunks in different banks; where elements are read one by one, a warp reads two chunks of four
  /// lines. Shifted lines need none, since they are longer.
  static constexpr __device__ int swizzle(int l) {
    return shifted ? 0 : l / (128 / line) * (along == Along::Outer && size == 4 ? 2 : 1) * chunk % line;
  }
  /// Returns the offset of a byte of line l.
  static __device__ int place(int l, int byte) { return l * line + (byte ^ swizzle(l)); }
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
  /// Says whether a lane has two neighbouring rows, which one instruction reads, in place of rows 8 apart.
  static constexpr bool in_pairs = sizeof(T) == 4 && along == Along::Outer && !shifted;

 public:
  /// `first`: the block's first row.
  __device__ FragmentPlace(const StoredLines& x, Index first, int row, int lane) {
    const int upper = halves_first ? lane / 16 : lane / 8 % 2, later = halves_first ? lane / 8 % 2 : lane / 16;
    if constexpr (along == Along::K && shifted) {
      // Eight lines further the shift is the same.
      const int l = row + lane / 4;
      base_ = Layout::place(l, lane % 4 * 4) + shift_of(x.data + (first + l) * x.pitch);
    } else if constexpr (along == Along::K) {
      base_ = Layout::place(row + upper * 8 + lane % 8, later * Layout::chunk);
    } else {
      const int in_box = row % Layout::wide * Layout::size;
      base_ = row / Layout::wide * Layout::lines * Layout::line +
              (singly ? Layout::place(lane % 4, in_box + lane / 4 * (in_pairs ? 8 : 4))
                      : Layout::place(later * 8 + lane % 8, in_box + upper * Layout::chunk));
      if constexpr (shifted) base_ += shift_of(x.data + first * Layout::size + lane % 4 * x.pitch); // as four k further
    }
    asm("" : "+r"(base_)); // otherwise the compiler computes all of it anew for each fragment
  }
  /// Reads fragment i of the warp's rows.
  __device__ void read(unsigned panel, int i, int step, unsigned (&to)[4]) const {
    if constexpr (shifted && along == Along::K) {
#pragma unroll
      for (int e = 0; e < 4; ++e)
        load(panel + base_ + (i * 16 + upper(e) * 8) * Layout::line + step * 32 + later(e) * Layout::chunk, to[e]);
    } else if constexpr (in_pairs) {
      const int box = i * 16 / Layout::wide, in_box = i * 16 % Layout::wide * 4;
#pragma unroll
      for (int half = 0; half < 2; ++half)
        load_pair(panel + (base_ ^ in_box) + box * Layout::lines * Layout::line + (step * 8 + half * 4) * Layout::line,
                  to[halves_first ? half : 2 * half], to[halves_first ? 2 + half : 2 * half + 1]);
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
  __device__ static void load_pair(unsigned from, unsigned& first, unsigned& second) {
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(first), "=r"(second) : "r"(from));
  }

  unsigned base_;
};

#endif

} // namespace tessera::cuda::warp_mma
