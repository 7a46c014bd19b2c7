#pragma once

/// Sums of products of bytes on this processor's units: int32 sums of op(A)'s numbers without a sign and op(B)'s with
/// one.
///
/// Operands lie in tiles of 16 lines (rows of op(A), columns of op(B)) and 64 k, 1024 bytes each; a group of 16 lines
/// is its tiles along k, one after another. A tile's line is 64 bytes, or, in quads, a tile has 16 times 4 neighbouring
/// k of all its lines, as AMX wants op(B). Sources: Intel 64 and IA-32 Architectures Optimization Reference Manual
/// (AMX, VNNI).

#include <cstdint>

#include <tessera/types.hpp>

#include "cpu/device/isa.hpp"

namespace tessera::cpu::int8_units {

inline constexpr Index tile_lines = 16;
inline constexpr Index tile_k = 64;
inline constexpr Index tile_bytes = tile_lines * tile_k;

/// Lines of one operand from the first one of a group on. The groups are `group_bytes` apart.
struct Tiles {
  const std::uint8_t* first; ///< of op(B) these are numbers with a sign
  Index group_bytes;
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
  /// Adds `tiles` tiles along k, at most 512, to the sums, which begin with 0 if `first`. The caller keeps the sums
  /// from leaving the type.
  void (*multiply)(const Tiles& a, const Tiles& b, Index tiles, const Sums& sums, bool first);
};

/// Returns the best kernel for instructions up to `isa`.
const ByteKernel& byte_kernel(Isa isa);

extern const ByteKernel portable_bytes;
#if defined(TESSERA_HAS_AMX_CODE)
extern const ByteKernel avx2_bytes, vnni_bytes, amx_bytes;
#endif

} // namespace tessera::cpu::int8_units
