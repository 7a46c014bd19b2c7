#pragma once

/// Host memory for matrices. It is aligned to cache lines; large blocks are on huge pages where the system grants them.

#include <cstddef>

namespace tessera {

/// Returns memory with undefined contents, or null if there is not enough.
void* allocate_host(std::size_t bytes) noexcept;
/// Returns how many bytes allocate_host() takes for so many; more than 0.
std::size_t rounded_host_size(std::size_t bytes) noexcept;
void free_host(void* memory) noexcept;

} // namespace tessera
