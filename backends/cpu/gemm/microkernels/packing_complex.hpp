#pragma once

/// Copies complex numbers into strips, where a number is two steps of k: a step of real parts, and one of imaginary
/// parts. Packing (packing.hpp) has what `Owner` is.

#include "cpu/gemm/common/microkernel.hpp"

namespace tessera::cpu {

/// A vector of the compiler's own, of `lanes` elements that need no alignment.
template <class T, int lanes>
struct Elements {
  typedef T Vector __attribute__((vector_size(lanes * sizeof(T)), aligned(alignof(T)), may_alias));
};

/// 0 … n − 1 as arguments of a template; the files that include this call nothing of the standard library.
template <int... i>
struct Numbered {};
template <int n, int... i>
struct NumberedUpTo : NumberedUpTo<n - 1, n - 1, i...> {};
template <int... i>
struct NumberedUpTo<0, i...> {
  using List = Numbered<i...>;
};

template <class Owner, class T, int width>
struct ComplexPacking {
  /// The most elements of a vector that are a power of two and at most so many.
  static constexpr int vector_up_to(int most, int lanes = 1) {
    return 2 * lanes <= most ? vector_up_to(most, 2 * lanes) : lanes;
  }
  static constexpr int register_lanes() {
    if constexpr (requires { Owner::lanes; })
      return Owner::lanes;
    else
      return 1;
  }

  /// Writes one step of k of `width` lines that lie side by side, as two steps: the real parts, the imaginary ones.
  static void split_pairs(const T* from, T sign, T* to) {
    constexpr int lanes = vector_up_to(width < register_lanes() ? width : register_lanes());
    if constexpr (lanes == 1) {
      for (int r = 0; r < width; ++r) {
        to[r] = from[2 * r];
        to[width + r] = sign * from[2 * r + 1];
      }
    } else {
#pragma GCC unroll 8
      for (int r = 0; r < width; r += lanes)
        split_vector<lanes>(from, sign, r + lanes <= width ? r : width - lanes, to, // may begin in the one before
                            typename NumberedUpTo<lanes>::List());
    }
  }
  template <int lanes, int... i>
  [[gnu::always_inline]] static void split_vector(const T* from, T sign, int r, T* to, Numbered<i...>) {
    using Vector = typename Elements<T, lanes>::Vector;
    const Vector low = *reinterpret_cast<const Vector*>(from + 2 * r);
    const Vector high = *reinterpret_cast<const Vector*>(from + 2 * r + lanes);
    *reinterpret_cast<Vector*>(to + r) = __builtin_shufflevector(low, high, 2 * i...);
    *reinterpret_cast<Vector*>(to + width + r) = sign * __builtin_shufflevector(low, high, 2 * i + 1 ...);
  }

  /// Writes the number of a line at a strip's step of k.
  static void write_number(Index line, T re, T im, T* to) {
    to[line] = re;
    to[width + line] = im;
  }

  /// Copies the lines of a strip that they do not fill; the rest of it becomes zeros.
  static void copy_edge(const Lines<T>& x, const T* from, Index lines, Index steps, T* out) {
    const T sign = x.is_conjugate ? T{-1} : T{1};
    for (Index i = 0; i < 2 * steps * width; ++i) out[i] = T{0};
    for (Index p = 0; p < steps; ++p)
      for (Index l = 0; l < lines; ++l) {
        const T* const at = from + 2 * (l * x.line_step + p * x.k_step);
        write_number(l, at[0], sign * at[1], out + 2 * p * width);
      }
  }

  /// Copies whole strips of lines that lie side by side. It goes through a few steps of k for all strips before the
  /// next steps, as Packing::copy_lines() does, and prefetches these.
  static void copy_lines(const Lines<T>& x, const T* from, Index strips, Index steps, T* out, Index strip_step) {
    constexpr Index block = 8, elements = 2 * width;
    const T sign = x.is_conjugate ? T{-1} : T{1};
    const Index row = 2 * x.k_step;
    for (Index p = 0; p < steps; p += block)
      for (Index s = 0; s < strips; ++s)
        for (Index q = p; q < (p + block < steps ? p + block : steps); ++q) {
          const T* const at = from + q * row + s * elements;
          for (Index c = 0; c < elements; c += 64 / static_cast<Index>(sizeof(T)))
            __builtin_prefetch(at + block * row + c, 0, 2);
          split_pairs(at, sign, out + s * strip_step + q * elements);
        }
  }

  /// Packs strips [first, last) as MicroKernel::pack_a and pack_b do. `transpose` writes a strip of lines along k.
  template <class Transpose>
  static void pack(const Lines<T>& x, Index first, Index last, Index k_first, Index k, T* strips,
                   const Transpose& transpose) {
    const Index steps = k / 2, left = x.count - first * width;
    const Index strip_step = x.strip_step != 0 ? x.strip_step : width * k;
    const T* from = x.data + 2 * (first * width * x.line_step + k_first / 2 * x.k_step);
    if (x.line_step == 1) {
      const Index whole = left / width < last - first ? left / width : last - first;
      copy_lines(x, from, whole, steps, strips, strip_step);
      if (whole < last - first)
        copy_edge(x, from + 2 * whole * width, left - whole * width, steps, strips + whole * strip_step);
      return;
    }
    for (Index s = 0; s < last - first; ++s) {
      const Index lines = left - s * width < width ? left - s * width : width;
      T* const strip = strips + s * strip_step;
      transpose(from + 2 * s * width * x.line_step, static_cast<int>(lines), 2 * x.line_step, k, strip);
      if (x.is_conjugate)
        for (Index p = 1; p < k; p += 2)
          for (Index l = 0; l < lines; ++l) strip[p * width + l] = -strip[p * width + l];
    }
  }
};

} // namespace tessera::cpu
