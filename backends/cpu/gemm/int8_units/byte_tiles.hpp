#pragma once

/// Sums of products of bytes on this processor's units: int32 sums of op(A)'s numbers without a sign and op(B)'s with
/// one.
///
/// Operands lie in tiles of 16 lines (rows of op(A), columns of op(B)) and 64 k, 1024 bytes each. A run is up to 8
/// tiles along k: first the run of one group of 16 lines, then the run of the next group, so that what a block of C
/// reads at once are neighbours. A tile's line is 64 bytes, or, in quads, a tile has 16 times 4 neighbouring k of all
/// its lines, as AMX wants op(B). Source: Intel 64 and IA-32 Architectures Optimization Reference Manual (AMX, VNNI).

#include <cstdint>

#include <tessera/types.hpp>

#include "cpu/device/isa.hpp"

namespace tessera::cpu::int8_units {

inline constexpr Index tile_lines = 16;
inline constexpr Index tile_k = 64;
inline constexpr Index tile_bytes = tile_lines * tile_k;
inline constexpr Index run_tiles = 8; ///< two groups of op(B) stay in L1, and a block of op(A) in L2

/// A run of one operand, from the first line of a group on.
struct Run {
  const std::uint8_t* first; ///< of op(B) these are numbers with a sign
  Index tiles;               ///< of each group
  Index groups;              ///< of the block

  // Files for different instructions use these: none may have the others call its copy.
  [[gnu::always_inline]] Index group_bytes() const { return tiles * tile_bytes; }
  /// Returns the memory of a line.
  [[gnu::always_inline]] const std::uint8_t* line(Index i) const {
    return first + i / tile_lines * group_bytes() + i % tile_lines * tile_k;
  }
};

/// What a block reads next of both operands; a kernel may ask for it.
struct Ahead {
  const std::uint8_t *a = nullptr, *b = nullptr;
  Index a_bytes = 0, b_bytes = 0;
};

/// The rows×cols int32 sums of a block; both are multiples of 16.
struct Sums {
  std::int32_t* data;
  Index ld;
  Index rows, cols;
};

/// A kernel for some kind of processor.
struct ByteKernel {
  const char* name;
  bool b_in_quads; ///< the form of op(B)'s tiles
  /// Adds the products of a run to the sums, which begin with 0 if `first`. The caller keeps the sums from leaving the
  /// type.
  void (*multiply)(const Run& a, const Run& b, const Sums& sums, bool first, const Ahead& ahead);
};

/// Returns the best kernel for instructions up to `isa`.
const ByteKernel& byte_kernel(Isa isa);

extern const ByteKernel portable_bytes;
extern const ByteKernel avx2_bytes, vnni_bytes, amx_bytes; ///< on x86-64 only

} // namespace tessera::cpu::int8_units
