#pragma once

/// What is compiled for AMX and AVX-512: the tiles' kernels, and packing for them. To be called only where why_no_amx()
/// is null.
///
/// A strip is 32 rows of op(A), or columns of op(B). It is packed in chunks of 32 k, for each of its parts two tiles of
/// 1 KiB: rows of A, or pairs of neighbouring k of B's columns. Intel 64 and IA-32 Architectures Optimization Reference
/// Manual, "Intel Advanced Matrix Extensions".

#include <cstdint>

#include <tessera/types.hpp>

namespace tessera::cpu::amx {

constexpr int side = 32;  ///< of a square of C: two tiles of 16×16 results each way
constexpr int chunk = 32; ///< k of one tile instruction
constexpr int tile_rows = 16;
constexpr Index tile_size = 512;           ///< bf16
constexpr Index part_size = 2 * tile_size; ///< of a strip's chunk
constexpr int parts_of_f32 = 3;            ///< in bf16, which keep all of its 24 bits

/// Element (o, p), o along C, is data[o·ld + p] if that is `along_k`, else data[p·ld + o].
struct Operand {
  const void* data;
  Index ld;
  bool along_k;
  Index outer, k;
};

/// What is used soon, and asked for meanwhile, so much for each chunk: `lines` of 64 bytes of an operand, into L2; the
/// next square's `rows` of sums, into L1.
struct Ahead {
  const char* operand;
  int lines;
  const float* sums;
  int rows;
};

/// Packs one chunk of one strip, and of `units` in all those behind it along the operand's rows: chunks of that strip
/// if it is `along_k`, else strips; `step` apart. Zeros beyond the operand. `b`: for the second operand.
using Pack = unsigned (*)(const Operand& x, Index strip, Index chunk, Index units, bool b, std::uint16_t* to,
                          Index step);
/// sums (up to 32×32, `ld` apart) = or += the products of that many chunks.
using Multiply = void (*)(const std::uint16_t* a, const std::uint16_t* b, Index chunks, float* sums, Index ld,
                          bool first, Ahead ahead);

/// The least magnitude in bits, less 1, of what was packed and is not 0; all ones if all is.
extern const Pack pack_bf16, pack_rounded; ///< bf16 as they are; f32, rounded
constexpr unsigned all_zero = 0xFFFF;
/// f32 in three parts. 0 if there is NaN, Inf, what rounds to Inf, or an element whose parts AMX would take for zero:
/// it flushes subnormal numbers. Else all_zero.
extern const Pack pack_split;

/// f32 to bf16, to nearest, ties to even.
void narrow(const float* from, Index count, std::uint16_t* to);

/// [whether A, not B, is to stay in the first cache][tiles of rows less 1][of columns less 1]: a square at C's edge may
/// have one of each.
using Squares = Multiply[2][2][2];
extern const Squares multiply_bf16;
extern const Squares multiply_bf16x6; ///< six of nine products of parts, small ones first

/// The tiles' shape, for this thread, with so many rows of A and sums; then products; then release(), which makes
/// switching threads cheap again.
void configure(int rows);
void release();

} // namespace tessera::cpu::amx
