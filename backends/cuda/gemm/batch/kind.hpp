#pragma once

/// Which kernel takes a group of a batch.

#include <cstddef>

#include "groups.hpp"

namespace tessera::cuda {

/// The kernel that takes a product, by its tile: 16×16 (Small), 32×32 (Quarter), 64×64 (Middle; on matrix units Dmma
/// in f64, and Narrow in tf32 and of 16-bit operands), wide tiles, tiles that tensor maps bring (Maps), or the ladder
/// (Alone).
enum class Kind { Small, Quarter, Middle, Dmma, Narrow, Wide, Maps, Alone };

/// Returns the tile into which a kernel cuts C.
BatchTile tile_of(Kind kind, DType type);

/// Returns the tiles of one product.
Index tiles_of(const GemmCall& call, const BatchTile& tile);

/// Chooses the kernel of a group by its shape; the batch has `groups` groups.
Kind kind_of(const GemmBatch& group, std::size_t groups, const Capabilities& machine);

/// Chooses the kernel of a group whose products' sizes are in device memory, or Alone where none takes it. Products
/// have as many rows on average as there are for each.
Kind kind_by_ends(const GemmBatch& group, int compute_major);

} // namespace tessera::cuda
