#pragma once

#include <cstddef>

namespace tessera::files {

/// Returns the memory of the machine in bytes, or what the process's control group may take of it if that is less.
std::size_t system_memory_bytes();

} // namespace tessera::files
