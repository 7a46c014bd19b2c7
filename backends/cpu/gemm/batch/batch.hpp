#pragma once

/// Many small products: each on one thread, all in one parallel loop.

#include <span>

#include <tessera/batch.hpp>

#include "cpu/executor.hpp"

namespace tessera::cpu {

/// Groups that share_out() takes, in one loop. All were checked and have work.
Status batched_products(CpuExecutor& cpu, Queue& queue, std::span<const GemmBatch> groups);

/// Does a thread for each product of this group pay, rather than all threads for one product after another?
bool is_shared_out(const GemmBatch& group, int threads);

} // namespace tessera::cpu
