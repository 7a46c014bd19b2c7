#pragma once

/// Copies operands into strips; see microkernel.hpp for the layout.
///
/// Included by files that are compiled for different instruction sets. `Owner` is a type of such a file's own, so that
/// each has its own functions and the linker cannot hand one file's to another. Where it is a Simd with `transpose`,
/// lines one behind the other are turned in registers.

#include "cpu/gemm/common/microkernel.hpp"

namespace tessera::cpu {

template <class Simd>
concept Transposes = requires(typename Simd::Vector (&v)[Simd::lanes]) {
  Simd::transpose(v);
};

template <class Owner, class T, int width>
struct Packing {
  /// Lines side by side in memory: some k at a time, so that few lines are written at once, `width` neighbours at a
  /// time, for all strips. Where k steps by a page, the hardware sees no stream: ask for what comes next.
  static void copy_lines(const T* x, Index k_step, Index strips, Index k, T* out) {
    constexpr Index block = 8;
    for (Index p = 0; p < k; p += block)
      for (Index s = 0; s < strips; ++s)
        for (Index q = p; q < (p + block < k ? p + block : k); ++q)
          copy_step(x + q * k_step + s * width, block * k_step, out + (s * k + q) * width);
  }

  static void copy_step(const T* from, Index next, T* to) {
    if constexpr (Transposes<Owner>) {
      constexpr int lanes = Owner::lanes;
#pragma GCC unroll 4
      for (int c = 0; c + lanes <= width; c += lanes) {
        __builtin_prefetch(from + next + c, 0, 2);
        Owner::store(to + c, Owner::load_unaligned(from + c));
      }
      for (int c = width / lanes * lanes; c < width; ++c) to[c] = from[c];
    } else {
      for (int c = 0; c < width; ++c) to[c] = from[c];
    }
  }

  /// Lines one behind the other in memory: a transpose. Lines from `lines` on are zeros.
  static void transpose_lines(const T* x, int lines, Index line_step, Index k, T* out) {
    if constexpr (Transposes<Owner>) {
      constexpr int lanes = Owner::lanes;
      Index p = 0;
      for (; p + lanes < k; p += lanes) transpose_block<lanes>(x + p, lines, line_step, lanes, false, out + p * width);
      transpose_block<0>(x + p, lines, line_step, static_cast<int>(k - p), true, out + p * width);
    } else {
      constexpr Index block = 16; // what is written stays in cache
      for (Index p = 0; p < k; p += block)
        for (int r = 0; r < width; ++r)
          for (Index q = p; q < (p + block < k ? p + block : k); ++q)
            out[q * width + r] = r < lines ? x[r * line_step + q] : T{0};
    }
  }

  /// One vector of k of every line. `known` steps, or `steps`, at most one vector's, where that is 0. Stores are whole
  /// vectors: what one writes too much the next one overwrites, and the very last one is masked.
  template <int known>
  static void transpose_block(const T* x, int lines, Index line_step, int steps, bool last, T* out) {
    constexpr int lanes = Owner::lanes;
    constexpr int groups = (width + lanes - 1) / lanes;
    // All lines at once where they end within a vector, so that stores ascend; else group by group: fewer registers.
    constexpr int together = width % lanes == 0 ? 1 : groups;
    const auto part = Owner::mask(known > 0 ? known : steps);
    for (int g = 0; g < groups; g += together) {
      typename Owner::Vector v[together][lanes];
#pragma GCC unroll 4
      for (int t = 0; t < together; ++t) {
#pragma GCC unroll 16
        for (int r = 0; r < lanes; ++r) {
          const int line = (g + t) * lanes + r;
          v[t][r] = line >= width || line >= lines ? Owner::zero()
                    : known > 0                    ? Owner::load_unaligned(x + line * line_step)
                                                   : Owner::load_part(x + line * line_step, part);
        }
        Owner::transpose(v[t]);
      }
#pragma GCC unroll 16
      for (int p = 0; p < lanes; ++p) {
        if (known == 0 && p >= steps) break;
#pragma GCC unroll 4
        for (int t = 0; t < together; ++t) {
          T* const to = out + p * width + (g + t) * lanes;
          if (known == 0 && last && p + 1 == steps && width % lanes != 0 && t + 1 == together)
            Owner::store_part(to, Owner::mask(width % lanes), v[t][p]);
          else
            Owner::store(to, v[t][p]);
        }
      }
    }
  }

  /// Lines side by side, in a strip that the operand does not fill.
  static void copy_edge(const T* x, Index lines, Index k_step, Index k, T* out) {
    for (Index p = 0; p < k; ++p)
      for (Index r = 0; r < width; ++r) out[p * width + r] = r < lines ? x[r + p * k_step] : T{0};
  }

  static void pack(const Lines<T>& x, Index first, Index last, Index k_first, Index k, T* strips) {
    const T* from = x.data + first * width * x.line_step + k_first * x.k_step;
    const Index left = x.count - first * width; // lines from here on
    if (x.line_step == 1) {
      const Index whole = left / width < last - first ? left / width : last - first;
      copy_lines(from, x.k_step, whole, k, strips);
      if (whole < last - first)
        copy_edge(from + whole * width, left - whole * width, x.k_step, k, strips + whole * width * k);
      return;
    }
    for (Index s = 0; s < last - first; ++s) {
      const Index lines = left - s * width < width ? left - s * width : width;
      transpose_lines(from + s * width * x.line_step, static_cast<int>(lines), x.line_step, k, strips + s * width * k);
    }
  }
};

} // namespace tessera::cpu
