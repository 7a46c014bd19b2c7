#pragma once

/// The environment variables that the CUDA backend reads. A value that makes no sense is an error; it is never ignored.

#include <cstddef>
#include <optional>

#include <tessera/status.hpp>

namespace tessera::cuda {

/// Reads TESSERA_CUDA_DEVICE, the index of a device. Sets `device` to none if the variable is unset or empty.
Status device_from_environment(std::optional<int>& device);

/// Reads TESSERA_CUDA_MEMORY_LIMIT, a number of bytes or a number with the suffix K, M or G (powers of 1024). Sets
/// `bytes` to 0 if the variable is unset or empty.
Status memory_limit_from_environment(std::size_t& bytes);

} // namespace tessera::cuda
