#pragma once

/// The tiles of the form for GPUs, from which a product takes the first that its device has registers and local memory
/// for.

#include <span>

#include <tessera/backend/kernel.hpp>

namespace tessera::opencl {

constexpr Index vector_bytes = 16; ///< of a vector of local memory

/// What a work-group computes: `down` by `across` work-items, each `rows` by `columns` results, `depth` steps of k at a
/// time.
struct LocalTile {
  Index rows, columns, down, across, depth;

  constexpr Index height() const noexcept { return rows * down; }
  constexpr Index width() const noexcept { return columns * across; }
  constexpr Index items() const noexcept { return down * across; }
  /// Two buffers of both operands, with a vector between lines of local memory.
  constexpr std::size_t local_bytes(Index real_bytes) const noexcept {
    const Index vectors = height() * real_bytes / vector_bytes + width() * real_bytes / vector_bytes + 2;
    return static_cast<std::size_t>(2 * depth * vectors * vector_bytes);
  }
};

/// Returns the tiles for a product whose operands are packed, or read where they are, the fastest first. The last one
/// needs few registers and little local memory.
std::span<const LocalTile> local_tiles_of(const GemmCall& call, bool packed) noexcept;

} // namespace tessera::opencl
