#pragma once

/// Copies complex numbers into strips of real elements, which they become on the way: pairs (re, im) along k for A,
/// squares [[re, im], [−im, re]] for B. So nothing expanded is written to memory, and any micro-kernel multiplies
/// complex matrices. Packing (packing.hpp) has what `Owner` is.
///
/// Source: Van Zee and Smith, "Implementing high-performance complex matrix multiplication via the 1m method" (2020).

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

  /// Writes `count` neighbours, re and im in turn, to two steps of k: as they are, and turned by i.
  template <int lanes, int... i>
  [[gnu::always_inline]] static void turn_vector(typename Elements<T, lanes>::Vector x, T sign, T* to, Numbered<i...>) {
    using Vector = typename Elements<T, lanes>::Vector;
    const Vector signs{(i % 2 == 0 ? T{1} : sign)...}, turns{(i % 2 == 0 ? -sign : T{1})...};
    *reinterpret_cast<Vector*>(to) = x * signs;
    *reinterpret_cast<Vector*>(to + width) = __builtin_shufflevector(x, x, (i ^ 1)...) * turns;
  }
  static void turn_row(const T* from, T sign, T* to) {
    constexpr bool fills_registers = register_lanes() > 1 && width % register_lanes() == 0;
    constexpr int lanes = fills_registers ? register_lanes() : 2;
#pragma GCC unroll 8
    for (int c = 0; c < width; c += lanes)
      turn_vector<lanes>(*reinterpret_cast<const typename Elements<T, lanes>::Vector*>(from + c), sign, to + c,
                         typename NumberedUpTo<lanes>::List());
  }

  /// Writes `steps` steps of k of columns whose numbers lie one after the other along k, each column by itself.
  static void turn_columns(const T* from, Index columns, Index line_step, Index steps, T sign, T* to) {
    for (Index p = 0; p < steps; ++p, to += 2 * width)
      for (Index c = 0; c < columns; ++c)
        turn_vector<2>(*reinterpret_cast<const typename Elements<T, 2>::Vector*>(from + 2 * (c * line_step + p)), sign,
                       to + 2 * c, typename NumberedUpTo<2>::List());
  }

  /// One round of a transpose of `pairs`×`pairs` numbers, a vector for each column: exchanges blocks of `block` numbers
  /// between columns that are `block` apart.
  template <int pairs, int block, int... i>
  [[gnu::always_inline]] static void exchange(typename Elements<T, 2 * pairs>::Vector (&x)[pairs], Numbered<i...>) {
    using Vector = typename Elements<T, 2 * pairs>::Vector;
#pragma GCC unroll 8
    for (int c = 0; c < pairs; ++c) {
      if (c & block) continue;
      const Vector first = x[c], second = x[c + block];
      x[c] = __builtin_shufflevector(first, second, ((i / 2) & block ? 2 * pairs + i - 2 * block : i)...);
      x[c + block] = __builtin_shufflevector(first, second, ((i / 2) & block ? 2 * pairs + i : i + 2 * block)...);
    }
  }
  template <int pairs, int block = 1>
  [[gnu::always_inline]] static void transpose_numbers(typename Elements<T, 2 * pairs>::Vector (&x)[pairs]) {
    exchange<pairs, block>(x, typename NumberedUpTo<2 * pairs>::List());
    if constexpr (2 * block < pairs) transpose_numbers<pairs, 2 * block>(x);
  }

  /// Does what turn_columns() does for all columns of a strip.
  static void turn_all_columns(const T* from, Index line_step, Index steps, T sign, T* to) {
    constexpr int lanes = register_lanes(), pairs = lanes / 2;
    if constexpr (pairs < 2 || width % lanes != 0) {
      turn_columns(from, width / 2, line_step, steps, sign, to);
    } else {
      using Vector = typename Elements<T, lanes>::Vector;
      Index p = 0;
      for (; p + pairs <= steps; p += pairs)
#pragma GCC unroll 8
        for (int c = 0; c < width / 2; c += pairs) {
          Vector x[pairs];
#pragma GCC unroll 8
          for (int i = 0; i < pairs; ++i) x[i] = *reinterpret_cast<const Vector*>(from + 2 * ((c + i) * line_step + p));
          transpose_numbers<pairs>(x);
#pragma GCC unroll 8
          for (int i = 0; i < pairs; ++i)
            turn_vector<lanes>(x[i], sign, to + 2 * (p + i) * width + 2 * c, typename NumberedUpTo<lanes>::List());
        }
      turn_columns(from + 2 * p, width / 2, line_step, steps - p, sign, to + 2 * p * width);
    }
  }

  /// Writes the number of a line, or of a column of squares, at a strip's step of k.
  static void write_number(bool is_square, Index line, T re, T im, T* to) {
    if (is_square) {
      to[2 * line] = re;
      to[2 * line + 1] = im;
      to[width + 2 * line] = -im;
      to[width + 2 * line + 1] = re;
    } else {
      to[line] = re;
      to[width + line] = im;
    }
  }

  /// Copies the lines of a strip that they do not fill; the rest of it becomes zeros.
  static void copy_edge(const Lines<T>& x, const T* from, Index lines, Index steps, T* out) {
    const T sign = x.is_conjugate ? T{-1} : T{1};
    for (Index i = 0; i < 2 * steps * width; ++i) out[i] = T{0};
    for (Index p = 0; p < steps; ++p)
      for (Index l = 0; l < lines; ++l) {
        const T* const at = from + 2 * (l * x.line_step + p * x.k_step);
        write_number(x.numbers == Numbers::Squares, l, at[0], sign * at[1], out + 2 * p * width);
      }
  }

  /// Copies whole strips of lines that lie side by side. It goes through a few steps of k for all strips before the
  /// next steps, as Packing::copy_lines() does, and prefetches these.
  static void copy_lines(const Lines<T>& x, const T* from, Index strips, Index steps, T* out) {
    constexpr Index block = 8;
    const T sign = x.is_conjugate ? T{-1} : T{1};
    const bool is_square = x.numbers == Numbers::Squares;
    const Index row = 2 * x.k_step, elements = is_square ? width : 2 * width;
    for (Index p = 0; p < steps; p += block)
      for (Index s = 0; s < strips; ++s)
        for (Index q = p; q < (p + block < steps ? p + block : steps); ++q) {
          const T* const at = from + q * row + s * elements;
          T* const to = out + (s * steps + q) * 2 * width;
          for (Index c = 0; c < elements; c += 64 / static_cast<Index>(sizeof(T)))
            __builtin_prefetch(at + block * row + c, 0, 2);
          if constexpr (width % 2 == 0)
            if (is_square) {
              turn_row(at, sign, to);
              continue;
            }
          split_pairs(at, sign, to);
        }
  }

  /// Packs strips [first, last) as MicroKernel::pack_a and pack_b do. `transpose` writes a strip of lines along k.
  template <class Transpose>
  static void pack(const Lines<T>& x, Index first, Index last, Index k_first, Index k, T* strips,
                   const Transpose& transpose) {
    const bool is_square = x.numbers == Numbers::Squares;
    const Index width_in_numbers = is_square ? width / 2 : width, count = is_square ? x.count / 2 : x.count;
    const Index steps = k / 2, left = count - first * width_in_numbers;
    const T* from = x.data + 2 * (first * width_in_numbers * x.line_step + k_first / 2 * x.k_step);
    Index whole = left / width_in_numbers < last - first ? left / width_in_numbers : last - first;
    if (x.line_step == 1) {
      copy_lines(x, from, whole, steps, strips);
    } else if (is_square) {
      for (Index s = 0; s < whole; ++s)
        turn_all_columns(from + 2 * s * width_in_numbers * x.line_step, x.line_step, steps,
                         x.is_conjugate ? T{-1} : T{1}, strips + s * width * k);
    } else {
      for (Index s = 0; s < last - first; ++s) {
        const Index lines = left - s * width < width ? left - s * width : width;
        T* const strip = strips + s * width * k;
        transpose(from + 2 * s * width * x.line_step, static_cast<int>(lines), 2 * x.line_step, k, strip);
        if (x.is_conjugate)
          for (Index p = 1; p < k; p += 2)
            for (Index l = 0; l < lines; ++l) strip[p * width + l] = -strip[p * width + l];
      }
      return;
    }
    if (whole < last - first)
      copy_edge(x, from + 2 * whole * width_in_numbers * x.line_step, left - whole * width_in_numbers, steps,
                strips + whole * width * k);
  }
};

} // namespace tessera::cpu
