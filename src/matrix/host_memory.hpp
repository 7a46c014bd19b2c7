#pragma once

/// Host memory for matrices: aligned to cache lines; large blocks on huge pages where the system grants them.

#include <cstddef>

namespace tessera {

/// Null if there is not enough. Contents undefined.
void* allocate_host(std::size_t bytes) noexcept;
void free_host(void* memory) noexcept;

} // namespace tessera
