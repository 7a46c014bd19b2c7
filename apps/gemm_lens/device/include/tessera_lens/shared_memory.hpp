#pragma once

/// What becomes of `__shared__` variables: objects between guard bands, which the run-time library knows.

#include <cstddef>

namespace tessera::lens {

/// Bytes of a guard band, a multiple of those that all banks have together.
constexpr std::size_t guard_bytes = 1024;

/// Tells the library that the block which runs has this object in its shared memory.
void declare_shared(void* begin, std::size_t bytes, const char* name);

} // namespace tessera::lens

extern unsigned char* const tessera_lens_dynamic_shared;
