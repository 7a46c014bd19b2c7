#pragma once

/// The contract between the loops around a micro-kernel (blocked.hpp) and the micro-kernels, one set an instruction
/// set.
///
/// A micro-kernel computes a tile of tile_m×tile_n elements of op(A)·op(B) for k ≤ canonical_segment, each element one
/// chain of fused multiply-adds in ascending k from +0, in registers from the first to the last: the canonical sum of
/// a segment. What is done with the sums (alpha, beta, adding segments) is the caller's business.
///
/// Packing. A strip of A is tile_m rows of op(A), stored k by k: element (r, p) at p·tile_m + r. A strip of B is tile_n
/// columns of op(B): element (p, c) at p·tile_n + c. Strips of B begin at a multiple of 64 bytes and tile_n is a whole
/// number of vectors, so that its vectors are aligned; A's elements are read one by one. Lines beyond the operand's
/// edge are zeros, and what they give is never stored in C.
///
/// The idea, and packing around a tiny kernel, is that of Goto and van de Geijn: "Anatomy of high-performance matrix
/// multiplication" (2008), in the form of BLIS.

#include <tessera/types.hpp>

#include "cpu/device/isa.hpp"

namespace tessera::cpu {

/// An operand as packing sees it: lines are rows of op(A) or columns of op(B). One of the steps is 1.
template <class T>
struct Lines {
  const T* data;
  Index count;
  Index line_step;
  Index k_step;
};

/// A tile of C to be computed straight from the operands, nothing packed: element (r, p) of A is at
/// a[r·a_row + p·a_step], (p, c) of B at b[p·b_step + c]. Only these are read, only rows×cols sums are stored.
template <class T>
struct DirectTile {
  int rows, cols; ///< at most direct_rows, and direct_cols(rows)
  Index k;
  const T* a;
  Index a_row, a_step;
  const T* b;
  Index b_step;
  Index b_ahead; ///< how many elements behind the ones in use lie those to be asked for; nothing is read there. 0: none
  bool more;     ///< the chains do not begin: their sums so far are in `tile`
  T* tile;       ///< sum (r, c) at r·ld + c
  Index ld;
};

/// Half a line, so that four tiles ask for a strip of B.
inline constexpr Index soon_bytes = 32;

/// Functions of one instruction set: call them only where the machine has it.
template <class T>
struct MicroKernel {
  Isa isa;
  int tile_m;
  int tile_n;
  /// Sums of the first `rows` rows (1 … tile_m) and of all tile_n columns, stored at tile[r·ld + c], or added to what
  /// is there: an earlier segment's sums. No alignment is asked of `tile`. Meanwhile `soon_bytes` for each step of k
  /// are asked for from `soon` on; nothing is read there.
  void (*multiply)(int rows, Index k, const T* a, const T* b, T* tile, Index ld, bool add, const T* soon);
  /// Strips [first, last), k steps [k_first, k_first + k), of tile_m rows or tile_n columns, one behind the other.
  void (*pack_a)(const Lines<T>& x, Index first, Index last, Index k_first, Index k, T* strips);
  void (*pack_b)(const Lines<T>& x, Index first, Index last, Index k_first, Index k, T* strips);
  /// `steps` fused multiply-adds on each of a tile's registers, without memory: 2·tile_m·tile_n·steps operations.
  /// What comes back is there to be used, so that the work is not optimised away.
  T (*multiply_registers)(Index steps);
  void (*multiply_direct)(const DirectTile<T>& tile);
  int direct_rows;
  int (*direct_cols)(int rows);
};

/// One file each.
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
