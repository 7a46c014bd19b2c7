#pragma once

/// The environment variables that the CUDA backend reads. A value that makes no sense is an error, never ignored.

#include <cstddef>
#include <optional>

#include <tessera/status.hpp>

namespace tessera::cuda {

/// TESSERA_CUDA_DEVICE, the index of a device; none if it is unset or empty.
Status device_from_environment(std::optional<int>& device);

/// TESSERA_CUDA_MEMORY_LIMIT, in bytes or with the suffix K, M or G (powers of 1024); 0 if it is unset or empty.
Status memory_limit_from_environment(std::size_t& bytes);

} // namespace tessera::cuda
