#pragma once

/// The variables of the environment that hold numbers.

#include <cstddef>

#include <tessera/status.hpp>

namespace tessera::opencl {

/// Reads TESSERA_OPENCL_MEMORY_LIMIT, the most bytes that an executor may allocate at any time: a number of bytes from
/// 1 on, or one such as 512M or 2G. 0: the variable is unset. Fails with InvalidArgument.
Status memory_limit_from_environment(std::size_t& bytes);

} // namespace tessera::opencl
