#pragma once

/// The contract between the loops around a micro-kernel (blocked.hpp) and the micro-kernels. Each instruction set has
/// its own micro-kernels.
///
/// A micro-kernel computes a tile of tile_m×tile_n elements of op(A)·op(B) for k ≤ canonical_segment. Each element is
/// one chain of fused multiply-adds in ascending k from +0, and stays in a register from the first step to the last:
/// this is a segment's strict sum. The caller applies alpha and beta and adds the segments.
///
/// Packing. A strip of A is tile_m rows of op(A), stored k by k: element (r, p) is at p·tile_m + r. A strip of B is
/// tile_n columns of op(B): element (p, c) is at p·tile_n + c. Strips of B begin at a multiple of 64 bytes and tile_n
/// is a whole number of vectors, so that vectors of B are aligned. The elements of A are read one by one. Lines beyond
/// the operand's edge are zeros, and their sums are never stored in C.
///
/// Source: Goto and van de Geijn, "Anatomy of high-performance matrix multiplication" (2008), in the form of BLIS.

#include <tessera/types.hpp>

#include "cpu/device/isa.hpp"

namespace tessera::cpu {

/// An operand as the packing functions read it. Its lines are the rows of op(A) or the columns of op(B). One of the two
/// steps is 1.
template <class T>
struct Lines {
  const T* data;
  Index count;     ///< lines
  Index line_step; ///< elements from one line to the next
  Index k_step;    ///< elements from one k to the next
};

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

/// Bytes that MicroKernel::multiply prefetches for each step of k: half a cache line, so that four tiles prefetch a
/// strip of B.
inline constexpr Index prefetch_bytes = 32;

/// The functions of one instruction set. Call them only where the machine has that instruction set.
template <class T>
struct MicroKernel {
  Isa isa;
  int tile_m;
  int tile_n;
  /// Computes the sums of the first `rows` rows (1 … tile_m) and of all tile_n columns from a strip of A and a strip of
  /// B. Stores them at tile[r·ld + c], or, if `add`, adds them to the sums of earlier segments that are there. `tile`
  /// needs no alignment. Meanwhile prefetches `prefetch_bytes` for each step of k from `prefetch` on; nothing is read
  /// there.
  void (*multiply)(int rows, Index k, const T* a, const T* b, T* tile, Index ld, bool add, const T* prefetch);
  /// Copy the strips [first, last) of an operand, of tile_m rows (pack_a) or tile_n columns (pack_b), for the steps
  /// [k_first, k_first + k) of k, one strip after the other.
  void (*pack_a)(const Lines<T>& x, Index first, Index last, Index k_first, Index k, T* strips);
  void (*pack_b)(const Lines<T>& x, Index first, Index last, Index k_first, Index k, T* strips);
  /// Does `steps` fused multiply-adds on each of a tile's registers, without memory: 2·tile_m·tile_n·steps operations.
  /// The caller uses the result, so that the compiler cannot remove the work.
  T (*multiply_registers)(Index steps);
  /// Computes a tile without packing.
  void (*multiply_direct)(const DirectTile<T>& tile);
  int direct_rows;              ///< the most rows that a DirectTile may have
  int (*direct_cols)(int rows); ///< the most columns that a DirectTile of so many rows may have
  int half_lanes;               ///< so many columns at the end of a row cost half a vector; 0: there is no half
  /// Computes a tile without packing where the columns of B lie along k; it transposes B in registers. Its
  /// chains begin at +0, and it prefetches nothing.
  void (*multiply_transposing)(const DirectTile<T>& tile);
  int transposing_rows, transposing_cols; ///< the most rows and columns of such a tile; 0: there is no such function
  /// Copies rows×cols elements at `from` to to[c·ld_to + r].
  void (*transpose)(int rows, int cols, const T* from, Index ld_from, T* to, Index ld_to);
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
