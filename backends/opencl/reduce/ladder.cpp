#include "ladder.hpp"

namespace tessera::opencl {

std::span<const ReduceKernel> reduce_ladder() { return canonical_reductions; }

} // namespace tessera::opencl
