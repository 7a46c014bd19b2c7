#pragma once

/// The contract between the loops around a micro-kernel (blocked.hpp) and the micro-kernels. Each instruction set has
/// its own micro-kernels.
///
/// A micro-kernel computes a tile of tile_m×tile_n elements of op(A)·op(B) for k ≤ canonical_segment. Each element is
/// one chain of fused multiply-adds in ascending k from +0, and stays in a register from the first step to the last:
/// this is a segment's strict sum.
///
/// Packing. A strip of A is tile_m rows of op(A), stored k by k: element (r, p) is at p·tile_m + r. A strip of B is
/// tile_n columns of op(B): element (p, c) is at p·tile_n + c. Strips of B begin at a multiple of 64 bytes and tile_n
/// is a whole number of vectors, so that vectors of B are aligned. The elements of A are read one by one. Lines beyond
/// the operand's edge are zeros, and their sums are never stored in C.
///
/// Source: Goto and van de Geijn, "Anatomy of high-performance matrix multiplication" (2008), in the form of BLIS.

#include <tessera/types.hpp>

#include "cpu/device/isa.hpp"
#include "reference/elementwise/complex_division.hpp"

namespace tessera::cpu {

/// What the elements of a packed strip are.
enum class Numbers {
  Real,  ///< numbers
  Pairs, ///< the parts of complex numbers, whose real and imaginary part are two steps of k
};

/// Which numbers of an operand are stored, or are not zeros.
enum class Shape {
  Whole,
  Symmetric, ///< those up to the line's own number along k; beyond it lines and k change places
  UpToLine,  ///< a triangle: steps of k up to the line's own number
  FromLine,  ///< a triangle: steps of k from the line's own number on
};

/// An operand as the packing functions read it. Its lines are the rows of op(A) or the columns of op(B). One of the two
/// steps is 1. Steps count numbers; the steps of k that are packed count elements.
template <class T>
struct Lines {
  const T* data;
  Index count;                     ///< lines
  Index line_step;                 ///< numbers from one line to the next
  Index k_step;                    ///< numbers from one k to the next
  Numbers numbers = Numbers::Real; ///< how numbers become elements
  bool is_conjugate = false;       ///< of complex numbers: the numbers' conjugates are read
  Shape shape = Shape::Whole;
  bool is_hermitian = false;      ///< Symmetric: conjugates where k and lines change places; the diagonal is real
  bool has_unit_diagonal = false; ///< of a triangle: ones, which are not stored
  Index strip_step = 0;           ///< Whole: elements from a packed strip to the next; 0: they follow each other

  /// Returns the steps of k that are a number's. The micro-kernels' files, each of which is compiled for its
  /// instruction set, must leave no function of their own to others.
  [[gnu::always_inline]] Index elements_along() const { return numbers == Numbers::Real ? 1 : 2; }
  /// Returns the first step of k that is packed of a strip of `width` lines that begins with this line, and the step
  /// after the last one; `k` is the operand's. What a triangle has not is padded within a strip, and else left out.
  Index first_step(Index line) const { return shape == Shape::FromLine ? line * elements_along() : 0; }
  Index last_step(Index line, Index width, Index k) const {
    if (shape != Shape::UpToLine) return k;
    const Index last = (line + width) * elements_along();
    return last < k ? last : k;
  }
};

/// The most bytes of a DirectTile's sums: a row's, since all other tiles are smaller. They may be on the stack.
inline constexpr Index direct_tile_bytes = 16384;

/// A tile of C that is computed straight from the operands, without packing. Element (r, p) of A is at a[r·a_row +
/// p·a_step], element (p, c) of B at b[p·b_step + c·b_col], where one of B's steps is 1. The micro-kernel reads nothing
/// else, and stores only rows×cols sums.
template <class T>
struct DirectTile {
  int rows, cols; ///< at most direct_rows and direct_cols(rows), or transposing_rows and transposing_cols
  Index k;
  const T* a;
  Index a_row, a_step;
  const T* b;
  Index b_step;
  Index b_col;   ///< 1 for multiply_direct; b_step is 1 for multiply_transposing
  Index b_ahead; ///< distance in elements from the vectors of B in use to what is prefetched; 0: nothing is
  bool more;     ///< true: the chains go on from the sums that are in `tile`; false: they begin at +0
  T* tile;       ///< sum (r, c) is at r·ld + c
  Index ld;
};

/// What a tile of C becomes: its sums, alpha·sums + beta·C, or what earlier segments left there with the sums added.
template <class T>
struct TileStore {
  bool adds = false;      ///< the sums of earlier segments are in the tile
  bool is_scaled = false; ///< by the factors below; beta is 0 where the tile has sums
  T alpha = 1, beta = 0;
  T alpha_imaginary = 0, beta_imaginary = 0; ///< of complex numbers
};

/// Bytes that MicroKernel::multiply prefetches for each step of k: half a cache line, so that four tiles prefetch a
/// strip of B.
inline constexpr Index prefetch_bytes = 32;

/// What a block of complex numbers on the diagonal of a triangle needs beside its numbers.
template <class T>
struct ComplexBlock {
  bool lines_come_first;             ///< the line's number is the first factor of each term
  bool has_unit_diagonal;            ///< terms of the diagonal are the line's numbers; of products
  const ComplexDivisor<T>* divisors; ///< of systems: the diagonal's, from the block's first row on
};

/// The functions of one instruction set. Call them only where the machine has that instruction set.
///
/// A micro-kernel of complex numbers (`parts` is 2) computes a tile whose rows have tile_n / 2 numbers, re and im in
/// turn. Its strips have Numbers::Pairs: tile_m rows of A, tile_n / 2 columns of B; k counts two steps for a number.
template <class T>
struct MicroKernel {
  Isa isa;
  int parts; ///< elements of a number
  int tile_m;
  int tile_n; ///< elements of a tile's row
  /// Computes the first `rows` rows (1 … tile_m) and all tile_n columns of a tile from a strip of A and a strip of B.
  /// Its elements are at tile[r·ld + c] and need no alignment. Meanwhile prefetches `prefetch_bytes` for each step of k
  /// from `prefetch` on; nothing is read there.
  void (*multiply)(int rows, Index k, const T* a, const T* b, T* tile, Index ld, const TileStore<T>& store,
                   const T* prefetch);
  /// The next three end or begin a tile's chains with a block on the diagonal, in place: a strip b of tile_n lines has
  /// a row for each number, and the tile's tile_m rows take the place of theirs. The strip a has the triangle's rows.
  /// Numbers on the other side of its diagonal are not read. `prefetch` is as in multiply().
  ///
  /// Lower triangles: k rows of b come before the tile's, and k steps of a before the block. solve() makes x(i) =
  /// (b(i) − s(i)) / t(i, i), where the chain s(i) has the terms t(i, p)·x(p) for p < i; multiply_lower() makes the sum
  /// of all terms with p ≤ i.
  void (*solve)(const ComplexBlock<T>& block, Index k, const T* a, T* b, const T* prefetch);
  void (*multiply_lower)(const ComplexBlock<T>& block, Index k, const T* a, T* b, const T* prefetch);
  /// Upper triangles: a and b begin with the block's `diagonal` numbers, at most tile_m, and k steps follow. Makes the
  /// sum of all terms with p ≥ i.
  void (*multiply_upper)(const ComplexBlock<T>& block, int diagonal, Index k, const T* a, T* b, const T* prefetch);
  /// Copy the strips [first, last) of an operand, of tile_m rows (pack_a) or tile_n / parts columns (pack_b), for the
  /// steps [k_first, k_first + k) of k, one strip after the other. Of a triangle nothing is written before
  /// Lines::first_step() and from Lines::last_step() on.
  void (*pack_a)(const Lines<T>& x, Index first, Index last, Index k_first, Index k, T* strips);
  void (*pack_b)(const Lines<T>& x, Index first, Index last, Index k_first, Index k, T* strips);
  /// Copies rows×cols elements at `from` to to[c·ld_to + r].
  void (*transpose)(int rows, int cols, const T* from, Index ld_from, T* to, Index ld_to);
  const MicroKernel* of_complex; ///< of the same elements; null: there is none. What follows is of real numbers
  /// Does `steps` fused multiply-adds on each of a tile's registers, without memory: 2·tile_m·tile_n·steps operations.
  /// The caller uses the result, so that the compiler cannot remove the work.
  T (*multiply_registers)(Index steps);
  /// Makes rows×cols elements of C of the sums at `sums`; nothing is padded.
  void (*store)(int rows, int cols, const T* sums, Index ld_sums, T* c, Index ldc, const TileStore<T>& store);
  /// Computes a tile without packing.
  void (*multiply_direct)(const DirectTile<T>& tile);
  int direct_rows;              ///< the most rows that a DirectTile may have
  int (*direct_cols)(int rows); ///< the most columns that a DirectTile of so many rows may have
  int half_lanes;               ///< so many columns at the end of a row cost half a vector; 0: there is no half
  /// Computes a tile without packing where the columns of B lie along k; it transposes B in registers. Its
  /// chains begin at +0, and it prefetches nothing.
  void (*multiply_transposing)(const DirectTile<T>& tile);
  int transposing_rows, transposing_cols; ///< the most rows and columns of such a tile; 0: there is no such function
};

/// The micro-kernels of each instruction set; each has a file in microkernels/.
template <class T>
const MicroKernel<T>& portable_micro_kernel();
template <class T>
const MicroKernel<T>& avx2_micro_kernel();
template <class T>
const MicroKernel<T>& avx512_micro_kernel();
template <class T>
const MicroKernel<T>& neon_micro_kernel();
template <>
const MicroKernel<float>& portable_micro_kernel();
template <>
const MicroKernel<double>& portable_micro_kernel();
template <>
const MicroKernel<float>& avx2_micro_kernel();
template <>
const MicroKernel<double>& avx2_micro_kernel();
template <>
const MicroKernel<float>& avx512_micro_kernel();
template <>
const MicroKernel<double>& avx512_micro_kernel();
template <>
const MicroKernel<float>& neon_micro_kernel();
template <>
const MicroKernel<double>& neon_micro_kernel();

template <class T>
const MicroKernel<T>& micro_kernel(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return avx512_micro_kernel<T>();
  if (isa == Isa::Avx2) return avx2_micro_kernel<T>();
#elif defined(__aarch64__)
  if (isa == Isa::Neon) return neon_micro_kernel<T>();
#endif
  return portable_micro_kernel<T>();
}

} // namespace tessera::cpu
