#pragma once

/// Batches of host memory on a device: operands cross as a whole, and results come back as a whole.

#include <tessera/gemm.hpp>

namespace tessera::detail {

/// `groups` are checked and in host memory. What does not fit into the device's memory at once goes in parts.
void gemm_batch_by_copies(Executor& executor, std::span<const GemmBatch> groups, const GemmOptions& options);

} // namespace tessera::detail
