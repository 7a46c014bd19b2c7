#pragma once

/// Which kernel of cuBLASLt's heuristics list is fastest for a product: by the clock.

#include "cublas_lt_products.hpp"

namespace tessera::cuda {

/// What NVIDIA recommends for Hopper, as for the rows of cuBLAS.
inline constexpr std::size_t lt_workspace_bytes = 32 << 20;

/// Sets `product.algorithm`. Rejected if the list is empty, or nothing on it runs. Leaves the call's C alone.
Status find_fastest(cublasLtHandle_t handle, const LtKey& key, Executor& executor, Queue& queue, const LtCall& call,
                    void* workspace, LtProduct& product);

} // namespace tessera::cuda
