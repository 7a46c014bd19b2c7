#pragma once

/// Runs the blocks of a launch, one after another, and the threads of a block warp by warp.

#include <cstddef>

#include "counters.hpp"

namespace tessera::lens {

/// Runs all blocks. `kernel(arguments)` runs the kernel as the current thread.
void run_blocks(Launch& launch, void (*kernel)(const void*), const void* arguments);

} // namespace tessera::lens
