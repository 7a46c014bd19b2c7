#pragma once

/// Batches of host memory on a device: operands are copied to it as a whole, and results are copied back as a whole.

#include <tessera/gemm.hpp>

namespace tessera::detail {

/// Computes `groups`, which are checked and in host memory. Groups that do not fit into the device's memory at once are
/// computed in parts.
void gemm_batch_by_copies(Executor& executor, std::span<const GemmBatch> groups, const GemmOptions& options);

} // namespace tessera::detail
