#pragma once

#include <cstddef>

namespace tessera::cuda_test {

inline constexpr std::size_t mebi = std::size_t{1} << 20;

/// The most bytes that the process-wide executor may hand out in these tests.
inline constexpr std::size_t memory_limit = 256 * mebi;

} // namespace tessera::cuda_test
