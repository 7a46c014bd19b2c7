#pragma once

/// Kernels that are Python files.

#include <cstdint>
#include <string>

#include "gemm_judge/channel.hpp"

namespace tessera::judge {

/// Replaces this process by the Python `interpreter`, which carries out the parent's commands as Session does. It
/// returns only if there is no such program. `file`: the kernel. `layers`: the Layer bits in force.
void become_python(const std::string& interpreter, const std::string& file, Device device, const Problem& problem,
                   std::uint32_t layers);

} // namespace tessera::judge
