#pragma once

/// Where the core leaves a product that verifies itself. src/extensions/checking/verify checks it; a build without
/// extensions rejects it.

#include <tessera/complex.hpp>
#include <tessera/executor.hpp>
#include <tessera/gemm.hpp>

namespace tessera::detail {

/// Adds to the counts of verify_counts().
void count_verified(const VerifyCounts& more) noexcept;

/// Where the result of a real product lies in the matrix that its caller knows.
struct ResultPlace {
  Index row = 0;
  Index col = 0;
  Index parts = 1; ///< columns of the real product for one of the caller's: 2 where the numbers are complex
};

/// Returns the executor of products that verify themselves: Auto takes the host's, because devices cannot verify yet.
/// Throws KernelRejected for a device that is named.
Executor& place_verified(const GemmOptions& options);

/// Computes the product on an executor of host memory and checks it, as options.verify says; it is not None. Throws
/// what gemm() throws, DataCorruption, and KernelRejected or InvalidArgument for what cannot be verified.
void gemm_verified(Executor& executor, const GemmCall& call, const GemmOptions& options, const ResultPlace& place = {});
/// Does that with complex numbers: each real product of which the result consists verifies itself, and what expands,
/// copies and combines complex numbers is compared with the reference's.
void gemm_verified(Executor& executor, const ComplexGemmCall& call, const GemmOptions& options);

} // namespace tessera::detail
