#pragma once

/// The functions that are compiled for AMX and AVX-512: the kernels of the tiles, and packing for them. Call them only
/// where why_no_amx() is null.
///
/// A strip is 32 rows of op(A) or 32 columns of op(B). It is packed in chunks of 32 k. A chunk has two tiles of 1 KiB
/// for each part of a split operand: rows of A, or pairs of neighbouring k of B's columns. Source: Intel 64 and IA-32
/// Architectures Optimization Reference Manual, "Intel Advanced Matrix Extensions".

#include <cstdint>

#include <tessera/types.hpp>

namespace tessera::cpu::amx {

constexpr int side = 32;  ///< rows and columns of a square of C, which is two tiles of 16×16 results each way
constexpr int chunk = 32; ///< k of one tile instruction
constexpr int tile_rows = 16;
constexpr Index tile_size = 512;           ///< bf16 of a tile
constexpr Index part_size = 2 * tile_size; ///< bf16 of one part of a strip's chunk
constexpr int parts_of_f32 = 3;            ///< bf16 parts of an f32 element, which keep all of its 24 bits

/// op(A) or op(B). Element (o, p), with o a row or column of C and p along k, is data[o·ld + p] if `along_k`, else
/// data[p·ld + o].
struct Operand {
  const void* data;
  Index ld;
  bool along_k;
  Index outer, k;
};

/// Describes what a kernel prefetches for each chunk: `lines` lines of 64 bytes of an operand into L2, and `rows` rows
/// of the next square's sums into L1.
struct Ahead {
  const char* operand;
  int lines;
  const float* sums;
  int rows;
};

/// Packs `pieces` pieces of 32 elements of an operand, from this chunk of this strip on, along the operand's rows in
/// memory: chunks of the strip if the operand lies `along_k`, else this chunk of neighbouring strips. Pieces are stored
/// `step` bf16 apart. Places beyond the operand's edge become zeros. `b` says that this is the second operand. The
/// result is described at each function.
using Pack = unsigned (*)(const Operand& x, Index strip, Index chunk, Index pieces, bool b, std::uint16_t* to,
                          Index step);
/// Stores in `sums` (up to 32×32, rows `ld` apart) the products of `chunks` chunks if `first`, else adds them.
using Multiply = void (*)(const std::uint16_t* a, const std::uint16_t* b, Index chunks, float* sums, Index ld,
                          bool first, Ahead ahead);

/// pack_bf16 packs bf16 as they are; pack_rounded rounds f32. They return the bits of the least magnitude that was
/// packed and is not 0, less 1; all_zero if all elements are 0.
extern const Pack pack_bf16, pack_rounded;
constexpr unsigned all_zero = 0xFFFF;
/// Packs f32 in three parts. Returns 0 if there is NaN, Inf, a number that rounds to Inf, or an element whose parts AMX
/// would take for zero, because it flushes subnormal numbers; else all_zero.
extern const Pack pack_split;

/// Rounds `count` f32 to bf16, to nearest, ties to even.
void narrow(const float* from, Index count, std::uint16_t* to);

/// A table of kernels: [A, not B, stays in L1][tiles of rows − 1][tiles of columns − 1]. A square at C's edge may have
/// only one tile of rows, only one tile of columns, or both.
using Squares = Multiply[2][2][2];
extern const Squares multiply_bf16;
extern const Squares multiply_bf16x6; ///< adds six of the nine products of parts, small ones first

/// Sets the tiles' shapes for the calling thread, with `rows` rows of A and of sums. Products follow, then release(),
/// which makes switching threads cheap again.
void configure(int rows);
void release();

} // namespace tessera::cpu::amx
