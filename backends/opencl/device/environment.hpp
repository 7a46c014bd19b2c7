#pragma once

/// The variables of the environment that are read once, when an executor is made.

#include <cstddef>

#include <tessera/status.hpp>

namespace tessera::opencl {

/// Reads TESSERA_OPENCL_MEMORY_LIMIT, the most bytes that an executor may allocate at any time: a number of bytes from
/// 1 on, or one such as 512M or 2G. 0: the variable is unset. Fails with InvalidArgument.
Status memory_limit_from_environment(std::size_t& bytes);

/// Reads a variable whose one word is `none`; `meaning` says what that does, for the message. Fails with
/// InvalidArgument for another word.
Status none_from_environment(const char* variable, const char* meaning, bool& is_none);

} // namespace tessera::opencl
