#pragma once

/// The tile kernel of amx_bf16x6: a square of C by AMX, from operands in three bf16 parts.

#include <cstdint>

#include <tessera/types.hpp>

namespace tessera::cpu::amx {

constexpr int side = 32;     ///< of a square: two tiles of 16×16 results each way
constexpr int block_k = 256; ///< k whose products stay in the tiles before their sum is carried out
constexpr int chunk = 32;    ///< k of one tile instruction
constexpr int parts = 3;
/// Elements of a packed strip's block: of each part, for each chunk of k, two tiles of 1 KiB.
constexpr Index part_size = Index{side} * block_k;
constexpr Index strip_block = parts * part_size;

/// What is compiled for AMX and AVX-512. To be called only where why_no_amx() is null.
struct Tiles {
  /// The tiles' shape, for this thread; then products; then release(), which makes switching threads cheap again.
  void (*configure)();
  void (*release)();
  /// sums (side×side, `ld` apart) = or += the six products of one block.
  void (*multiply)(const std::uint16_t* a, const std::uint16_t* b, float* sums, Index ld, bool first);
  /// Splits side×chunk elements of op(A), row by row, into the strip's parts, `at` being where this chunk's first
  /// tile of the first part goes. False if there is NaN, Inf, what rounds to Inf, or an element whose parts AMX would
  /// take for zero: it flushes subnormal numbers.
  bool (*pack_a)(const float* elements, std::uint16_t* at);
  /// The same for chunk×side elements of op(B), k by k; AMX wants neighbouring k side by side.
  bool (*pack_b)(const float* elements, std::uint16_t* at);
};

const Tiles& tiles();

} // namespace tessera::cpu::amx
