#pragma once

/// Asks the driver what the kernels of a graph take of a multiprocessor. The kernels may be the vendor's.

#include <cuda_runtime_api.h>

#include <tessera/backend/kernel_resources.hpp>

namespace tessera::cuda {

/// Fills `resources` for the kernel of the graph whose blocks take the most registers.
Status read_graph_resources(int device, cudaGraph_t graph, KernelResources& resources) noexcept;

} // namespace tessera::cuda
