#pragma once

/// The tools of the library itself, which TESSERA_PROFILE names.

#include <tessera/tools.hpp>

namespace tessera::tools {

/// Prints a table of times, calls, bytes and GFLOP/s to stderr when the program ends.
Tool summary_tool();

/// Makes an NVTX range of each operation. Throws InvalidArgument if this library was built without NVTX.
Tool nvtx_tool();

} // namespace tessera::tools
