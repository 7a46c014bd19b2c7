#include "ladder.hpp"

namespace tessera::cuda {

std::span<const ReduceKernel> reduce_ladder() { return {}; }

} // namespace tessera::cuda
