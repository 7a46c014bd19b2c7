#pragma once

#include <cstddef>

namespace tessera::cuda_test {

/// Bytes that the process-wide executor may hand out in these tests.
inline constexpr std::size_t memory_limit = std::size_t{256} << 20;

} // namespace tessera::cuda_test
