#pragma once

/// Finds the kernel of cuBLASLt's heuristics list that is fastest for a product, by timing.

#include "cublas_lt_products.hpp"

namespace tessera::cuda {

/// Bytes of workspace: NVIDIA's recommendation for Hopper.
inline constexpr std::size_t lt_workspace_bytes = 32 << 20;

/// Sets `product.algorithm`. The status is Rejected if the list is empty or no kernel on it runs. The call's C is not
/// changed. It waits for the queue.
Status find_fastest(cublasLtHandle_t handle, const LtKey& key, Executor& executor, Queue& queue, const LtCall& call,
                    void* workspace, LtProduct& product);

} // namespace tessera::cuda
