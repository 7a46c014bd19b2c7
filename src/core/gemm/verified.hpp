#pragma once

/// Where the core leaves a product that verifies itself. src/extensions/checking/verify checks it; a build without
/// extensions rejects it.

#include <tessera/executor.hpp>
#include <tessera/gemm.hpp>

namespace tessera::detail {

/// Adds to the counts of verify_counts().
void count_verified(const VerifyCounts& more) noexcept;

/// Computes the product on an executor of host memory and checks it, as options.verify says; it is not None. Throws
/// what gemm() throws, DataCorruption, and KernelRejected or InvalidArgument for what cannot be verified.
void gemm_verified(Executor& executor, const GemmCall& call, const GemmOptions& options);

} // namespace tessera::detail
