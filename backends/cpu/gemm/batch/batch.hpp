#pragma once

/// Batches of small products. One parallel loop computes all of them, each product on one thread.

#include <span>

#include <tessera/batch.hpp>

#include "cpu/executor.hpp"

namespace tessera::cpu {

/// Computes groups for which is_shared_out is true, in one loop. All groups were checked and have work. Returns the
/// first failure; C of some products may be written then.
Status batched_products(CpuExecutor& cpu, Queue& queue, std::span<const GemmBatch> groups);

/// Says whether one thread for each product of this group is faster than all threads for one product after another.
bool is_shared_out(const GemmBatch& group, int threads);

} // namespace tessera::cpu
