#pragma once

/// The variables of the environment that are read once, when an executor is made.

#include <cstddef>

#include <tessera/status.hpp>

#include "device.hpp"

namespace tessera::opencl {

/// Reads TESSERA_OPENCL_MEMORY_LIMIT, the most bytes that an executor may allocate at any time: a number of bytes from
/// 1 on, or one such as 512M or 2G. 0: the variable is unset. Fails with InvalidArgument.
Status memory_limit_from_environment(std::size_t& bytes);

/// Reads a variable whose one word is `none`; `meaning` says what that does, for the message. Fails with
/// InvalidArgument for another word.
Status none_from_environment(const char* variable, const char* meaning, bool& is_none);

/// Reads TESSERA_OPENCL_CACHE: whether compiled programs are kept between processes. Unset: where the driver does not
/// do so itself; `none`: nowhere; `all`: everywhere. Fails with InvalidArgument for another word.
Status cache_from_environment(const Device& device, bool& keeps_programs);

} // namespace tessera::opencl
