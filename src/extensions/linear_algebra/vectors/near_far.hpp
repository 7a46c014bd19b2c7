#pragma once

/// Loops over numbers that lie in the caches, and over numbers that come from memory. Vectors of 64 bytes are faster in
/// the caches. From memory vectors of 32 bytes are, in loops over two streams or one that is written
/// (docs/lab/level12.md). The bits are equal.

#include <tessera/types.hpp>

#include "reference/fma_clones.hpp"

namespace tessera::vectors {

/// Do most of so many bytes come from memory?
constexpr bool are_far(Index bytes) {
  constexpr Index last_cache = Index{1} << 24;
  return bytes > last_cache;
}

/// Defines a function twice: `name`_near for data in the caches, and `name`_far. TESSERA_NEAR_AND_FAR(result, name,
/// (parameters), { body }); the body may call nothing that has versions.
#define TESSERA_NEAR_AND_FAR(result, name, parameters, ...)                                                     \
  TESSERA_WIDE_CLONES result name##_near parameters __VA_ARGS__ TESSERA_FMA_CLONES result name##_far parameters \
      __VA_ARGS__

} // namespace tessera::vectors
