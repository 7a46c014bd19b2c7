#pragma once

/// The lines of an operand as whole numbers modulo each of 15 moduli, and their sizes: 16 planes of bytes in tiles.

#include <algorithm>
#include <cstdint>

#include <tessera/detail/int8_units.hpp>
#include <tessera/types.hpp>

#include "byte_tiles.hpp"
#include "cpu/memory/scratch.hpp"

namespace tessera::cpu::int8_units {

namespace int8 = detail::int8;

inline constexpr int residue_planes = static_cast<int>(int8::moduli.size());
inline constexpr int planes = residue_planes + 1; ///< the last one has the sizes

/// Rows of op(A), or columns of op(B): element p of line i is at data[i·line_step + p·k_step].
struct Lines {
  const double* data;
  Index line_step, k_step;
  Index count;
  Index k;

  /// Returns these lines from `first` on.
  Lines from(Index first, Index lines) const { return {data + first * line_step, line_step, k_step, lines, k}; }
};

/// Where the planes of some lines lie. Lines are padded to whole groups, and k to whole tiles, by zeros.
struct PackedLines {
  Index groups = 0;
  Index tiles = 0; ///< of a group
  std::uint8_t* data = nullptr;
  int8::Line* facts = nullptr;

  PackedLines() = default;
  /// Takes memory for up to `lines` lines.
  PackedLines(Carver& carver, Index lines, Index k);

  Index runs() const { return (tiles + run_tiles - 1) / run_tiles; }
  /// Returns a run of a plane, of `count` groups from `group` on.
  Run run(int plane, Index number, Index group, Index count) const {
    const Index before = number * run_tiles, length = std::min(run_tiles, tiles - before);
    return {data + ((plane * tiles + before) * groups + group * length) * tile_bytes, length, count};
  }
};

/// How residues are kept: op(A)'s from 0 on, op(B)'s with a sign and perhaps in quads.
enum class Form { A, B, BInQuads };

/// Bytes of scratch memory that pack_group() takes.
std::size_t pack_scratch_bytes();

/// Packs the 16 lines of a group, or as many as there are.
void pack_group(const Lines& lines, Index group, Form form, const PackedLines& to, void* scratch);

} // namespace tessera::cpu::int8_units
