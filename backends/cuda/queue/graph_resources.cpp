#include "graph_resources.hpp"

#include <cuda.h>

#include <new>
#include <vector>

#include "cuda/device/status.hpp"

namespace tessera::cuda {
namespace {

/// Finds a function in the driver that cudart has opened: the plug-in is not linked against the driver.
template <class Function>
bool find(const char* name, Function& function) noexcept {
  void* found_at = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  const cudaError_t error = cudaGetDriverEntryPointByVersion(name, &found_at, 12000, cudaEnableDefault, &found);
#else
  const cudaError_t error = cudaGetDriverEntryPoint(name, &found_at, cudaEnableDefault, &found);
#endif
  if (error != cudaSuccess) cudaGetLastError();
  if (error != cudaSuccess || found != cudaDriverEntryPointSuccess) return false;
  function = reinterpret_cast<Function>(found_at);
  return true;
}

/// The driver's functions that know a kernel. The runtime's own know only kernels of the plug-in, not the vendor's.
struct Driver {
  decltype(&cuGraphKernelNodeGetParams) node_params = nullptr;
  decltype(&cuKernelGetFunction) function_of = nullptr;
  decltype(&cuFuncGetAttribute) attribute = nullptr;
  decltype(&cuOccupancyMaxActiveBlocksPerMultiprocessor) blocks = nullptr;
  bool complete = find("cuGraphKernelNodeGetParams", node_params) && find("cuKernelGetFunction", function_of) &&
                  find("cuFuncGetAttribute", attribute) && find("cuOccupancyMaxActiveBlocksPerMultiprocessor", blocks);

  /// Reads the resources of the kernel of one node.
  bool read(cudaGraphNode_t node, KernelResources& resources) const {
    CUDA_KERNEL_NODE_PARAMS launch{};
    if (node_params(node, &launch) != CUDA_SUCCESS) return false;
    CUfunction function = launch.func;
    if (function == nullptr && function_of(&function, launch.kern) != CUDA_SUCCESS) return false;
    resources.threads = static_cast<int>(launch.blockDimX * launch.blockDimY * launch.blockDimZ);
    resources.dynamic_shared = static_cast<int>(launch.sharedMemBytes);
    return attribute(&resources.registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function) == CUDA_SUCCESS &&
           attribute(&resources.static_shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function) == CUDA_SUCCESS &&
           attribute(&resources.local_memory, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function) == CUDA_SUCCESS &&
           blocks(&resources.blocks, function, resources.threads, launch.sharedMemBytes) == CUDA_SUCCESS;
  }
};

Status nodes_of(cudaGraph_t graph, std::vector<cudaGraphNode_t>& nodes) {
  std::size_t count = 0;
  if (Status status = check(cudaGraphGetNodes(graph, nullptr, &count), "counting a recording's kernels"); !status.ok())
    return status;
  nodes.resize(count);
  return check(cudaGraphGetNodes(graph, nodes.data(), &count), "reading a recording's kernels");
}

} // namespace

Status read_graph_resources(int device, cudaGraph_t graph, KernelResources& resources) noexcept try {
  static const Driver driver;
  if (!driver.complete) return {StatusCode::Unavailable, "the driver does not tell the resources of a graph's kernels"};
  int resident_threads = 0;
  Status status = check(cudaSetDevice(device), "choosing the device");
  if (status.ok())
    status = check(cudaDeviceGetAttribute(&resident_threads, cudaDevAttrMaxThreadsPerMultiProcessor, device),
                   "asking for a multiprocessor's threads");
  std::vector<cudaGraphNode_t> nodes;
  if (status.ok()) status = nodes_of(graph, nodes);
  if (!status.ok()) return status;
  KernelResources most;
  for (const cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type{};
    KernelResources here;
    if (cudaGraphNodeGetType(node, &type) != cudaSuccess || type != cudaGraphNodeTypeKernel) continue;
    if (driver.read(node, here) && here.registers * here.threads > most.registers * most.threads) most = here;
  }
  if (most.threads == 0) return {StatusCode::Unavailable, "the driver told no kernel's resources"};
  most.occupancy = static_cast<double>(most.blocks) * most.threads / resident_threads;
  resources = most;
  return {};
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

} // namespace tessera::cuda
