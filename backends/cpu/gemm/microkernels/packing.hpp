#pragma once

/// Copies operands into strips; common/microkernel.hpp describes the layout.
///
/// Files that are compiled for different instruction sets include this header. `Owner` is a type that such a file
/// defines for itself. So each file has its own functions, and the linker cannot give one file the functions of
/// another. Where `Owner` is a Simd with `transpose`, lines that lie one after the other are transposed in registers.

#include "cpu/gemm/common/microkernel.hpp"
#include "packing_complex.hpp"

namespace tessera::cpu {

template <class Simd>
concept Transposes = requires(typename Simd::Vector (&v)[Simd::lanes]) {
  Simd::transpose(v);
};

/// Says whether there are vectors of half the width.
template <class Simd>
concept HasHalf = requires {
  typename Simd::Half;
};

template <class Owner, class T, int width>
struct Packing {
  /// Copies lines that lie side by side in memory into whole strips. It goes through a few steps of k for all strips
  /// before the next steps, so that few cache lines are written at a time. Where a step of k is a page or more, the
  /// hardware sees no stream, so the next steps are prefetched.
  static void copy_lines(const T* x, Index k_step, Index strips, Index k, T* out, Index strip_step) {
    constexpr Index block = 8;
    for (Index p = 0; p < k; p += block)
      for (Index s = 0; s < strips; ++s)
        for (Index q = p; q < (p + block < k ? p + block : k); ++q)
          copy_step(x + q * k_step + s * width, block * k_step, out + s * strip_step + q * width);
  }

  /// Copies `width` neighbours and prefetches the neighbours at from + next.
  static void copy_step(const T* from, Index next, T* to) {
    if constexpr (Transposes<Owner>) {
      constexpr int lanes = Owner::lanes;
#pragma GCC unroll 4
      for (int c = 0; c + lanes <= width; c += lanes) {
        __builtin_prefetch(from + next + c, 0, 2);
        Owner::store(to + c, Owner::load_unaligned(from + c));
      }
      constexpr int left = width % lanes;
      if constexpr (left > 0 && width > lanes) { // the last vector begins within the one before
        Owner::store(to + width - lanes, Owner::load_unaligned(from + width - lanes));
      } else if constexpr (left > 0 && HasHalf<Owner>) { // masks cost nothing where there are halves of vectors
        Owner::store_part(to, Owner::mask(left), Owner::load_part(from, Owner::mask(left)));
      } else {
        for (int c = width - left; c < width; ++c) to[c] = from[c];
      }
    } else {
      for (int c = 0; c < width; ++c) to[c] = from[c];
    }
  }

  /// Copies lines that lie one after the other in memory into one strip, which is a transpose. The strip's lines from
  /// `lines` on become zeros.
  static void transpose_lines(const T* x, int lines, Index line_step, Index k, T* out) {
    if constexpr (Transposes<Owner>) {
      constexpr int lanes = Owner::lanes;
      Index p = 0;
      for (; p + lanes < k; p += lanes) transpose_block<lanes>(x + p, lines, line_step, lanes, false, out + p * width);
      transpose_block<0>(x + p, lines, line_step, static_cast<int>(k - p), true, out + p * width);
    } else {
      constexpr Index block = 16; // a block's part of the strip stays in the cache while it is written
      for (Index p = 0; p < k; p += block)
        for (int r = 0; r < width; ++r)
          for (Index q = p; q < (p + block < k ? p + block : k); ++q)
            out[q * width + r] = r < lines ? x[r * line_step + q] : T{0};
    }
  }

  /// Transposes one vector of k of every line: `known` steps, or, if `known` is 0, `steps` steps, at most one vector.
  /// Stores are whole vectors: the next store overwrites what a store writes too much, and the very last one is masked.
  template <int known>
  static void transpose_block(const T* x, int lines, Index line_step, int steps, bool last, T* out) {
    constexpr int lanes = Owner::lanes;
    constexpr int groups = (width + lanes - 1) / lanes;
    // Where the lines end within a vector, all of them are done at once, so that stores ascend. Elsewhere they are done
    // group by group, which takes fewer registers.
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

  /// Copies lines that lie side by side into a strip that they do not fill; the rest of it becomes zeros.
  static void copy_edge(const T* x, Index lines, Index k_step, Index k, T* out) {
    for (Index p = 0; p < k; ++p)
      for (Index r = 0; r < width; ++r) out[p * width + r] = r < lines ? x[r + p * k_step] : T{0};
  }

  /// Copies a strip of a symmetric or triangular matrix: the part where k is below the lines' numbers, the square on
  /// the diagonal, and the part above it. Of a symmetric matrix lines and k change places there.
  static void pack_by_parts(const Lines<T>& x, Index strip, Index k_first, Index k, T* out) {
    const Index parts = x.elements_along(), first = strip * width;
    const Index lines = x.count - first < width ? x.count - first : width;
    const Index begin = k_first / parts, end = begin + k / parts;
    const auto within = [&](Index p) { return p < begin ? begin : p < end ? p : end; };
    const Index middle = within(first), after = within(first + lines);
    const auto at_step = [&](Index p) { return out + (p - begin) * parts * width; };
    const bool is_symmetric = x.shape == Shape::Symmetric;
    Lines<T> above = x;
    if (is_symmetric) {
      above.line_step = x.k_step;
      above.k_step = x.line_step;
      above.is_conjugate = x.is_conjugate != x.is_hermitian;
    }
    if (middle > begin && x.shape != Shape::FromLine)
      pack_lines(x, strip, strip + 1, begin * parts, (middle - begin) * parts, out);
    if (after < end && x.shape != Shape::UpToLine)
      pack_lines(above, strip, strip + 1, after * parts, (end - after) * parts, at_step(after));
    for (Index p = middle; p < after; ++p) {
      T* const to = at_step(p);
      for (Index i = 0; i < parts * width; ++i) to[i] = T{0};
      for (Index l = 0; l < lines; ++l) {
        const Index line = first + l;
        if (x.shape == Shape::UpToLine ? p > line : x.shape == Shape::FromLine && p < line) continue;
        const Lines<T>& half = p <= line ? x : above;
        const T* const number = x.data + (line * half.line_step + p * half.k_step) * parts;
        const bool is_one = x.has_unit_diagonal && p == line;
        const T re = is_one ? T{1} : number[0];
        if (parts == 1) {
          to[l] = re;
          continue;
        }
        const bool is_real = is_one || (x.is_hermitian && p == line);
        const T im = is_real ? T{0} : half.is_conjugate ? -number[1] : number[1];
        ComplexPacking<Owner, T, width>::write_number(l, re, im, to);
      }
    }
  }

  /// MicroKernel::pack_a and pack_b.
  static void pack(const Lines<T>& x, Index first, Index last, Index k_first, Index k, T* strips) {
    if (x.shape == Shape::Whole) return pack_lines(x, first, last, k_first, k, strips);
    for (Index s = first; s < last; ++s) pack_by_parts(x, s, k_first, k, strips + (s - first) * width * k);
  }

  /// Does what pack() does, of a matrix that is stored as a whole.
  static void pack_lines(const Lines<T>& x, Index first, Index last, Index k_first, Index k, T* strips) {
    if (x.numbers != Numbers::Real)
      return ComplexPacking<Owner, T, width>::pack(x, first, last, k_first, k, strips, transpose_lines);
    const T* from = x.data + first * width * x.line_step + k_first * x.k_step;
    const Index left = x.count - first * width; // lines from here on
    const Index strip_step = x.strip_step != 0 ? x.strip_step : width * k;
    if (x.line_step == 1) {
      const Index whole = left / width < last - first ? left / width : last - first;
      copy_lines(from, x.k_step, whole, k, strips, strip_step);
      if (whole < last - first)
        copy_edge(from + whole * width, left - whole * width, x.k_step, k, strips + whole * strip_step);
      return;
    }
    for (Index s = 0; s < last - first; ++s) {
      const Index lines = left - s * width < width ? left - s * width : width;
      transpose_lines(from + s * width * x.line_step, static_cast<int>(lines), x.line_step, k, strips + s * strip_step);
    }
  }
};

} // namespace tessera::cpu
