#pragma once

/// Copies operands into strips; see microkernel.hpp for the layout.
///
/// Included by files that are compiled for different instruction sets. `Owner` is a type of such a file's own, so that
/// each has its own functions and the linker cannot hand one file's to another.

#include "cpu/gemm/microkernel.hpp"

namespace tessera::cpu {

template <class Owner, class T, int width>
struct Packing {
  /// Lines side by side in memory: k by k, `width` neighbours at a time, for all strips, as the rows lie in memory.
  static void copy_lines(const T* x, Index k_step, Index strips, Index k, T* out) {
    for (Index p = 0; p < k; ++p)
      for (Index s = 0; s < strips; ++s) {
        const T* from = x + p * k_step + s * width;
        T* to = out + (s * k + p) * width;
        for (int c = 0; c < width; ++c) to[c] = from[c];
      }
  }

  /// Lines one behind the other in memory: a transpose. A few k at a time keep what is written in cache.
  static void transpose_lines(const T* x, Index line_step, Index k, T* out) {
    constexpr Index block = 16;
    Index p = 0;
    for (; p + block <= k; p += block)
      for (int r = 0; r < width; ++r)
        for (Index q = p; q < p + block; ++q) out[q * width + r] = x[r * line_step + q];
    for (; p < k; ++p)
      for (int r = 0; r < width; ++r) out[p * width + r] = x[r * line_step + p];
  }

  /// A strip that the operand does not fill.
  static void copy_edge(const T* x, Index lines, Index line_step, Index k_step, Index k, T* out) {
    for (Index p = 0; p < k; ++p)
      for (Index r = 0; r < width; ++r) out[p * width + r] = r < lines ? x[r * line_step + p * k_step] : T{0};
  }

  static void pack(const Lines<T>& x, Index first, Index last, Index k_first, Index k, T* strips) {
    const Index whole = x.count / width < last ? x.count / width : last;
    const T* from = x.data + first * width * x.line_step + k_first * x.k_step;
    if (first < whole && x.line_step == 1) {
      copy_lines(from, x.k_step, whole - first, k, strips);
    } else {
      for (Index s = first; s < whole; ++s)
        transpose_lines(from + (s - first) * width * x.line_step, x.line_step, k, strips + (s - first) * width * k);
    }
    if (whole < last && x.count > whole * width) {
      const Index edge = (whole > first ? whole : first) - first;
      copy_edge(from + edge * width * x.line_step, x.count - whole * width, x.line_step, x.k_step, k,
                strips + edge * width * k);
    }
  }
};

} // namespace tessera::cpu
