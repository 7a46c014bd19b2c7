#pragma once

#include <tessera/tessera.hpp>

namespace tessera::cuda_test {

/// Says whether the device has Hopper's kernels.
inline bool is_hopper() { return executor(Backend::Cuda).capabilities().compute_major == 9; }

} // namespace tessera::cuda_test
