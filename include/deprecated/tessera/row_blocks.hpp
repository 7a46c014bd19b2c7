#pragma once

/// The name until 0.2 of <tessera/beyond_memory/row_blocks.hpp>.

#include <tessera/beyond_memory/row_blocks.hpp>
