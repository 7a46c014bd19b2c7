#include "shared_memory.hpp"

#include <cuda_runtime_api.h>

#include <mutex>
#include <new>
#include <set>
#include <shared_mutex>
#include <utility>

#include "status.hpp"

namespace tessera::cuda {
namespace {

/// The kernels whose limit is set, each with its device.
class AllowedKernels {
 public:
  using Key = std::pair<const void*, int>;

  bool contains(const Key& key) {
    const std::shared_lock lock(mutex_);
    return keys_.contains(key);
  }

  void add(const Key& key) {
    const std::lock_guard lock(mutex_);
    keys_.insert(key);
  }

 private:
  std::shared_mutex mutex_;
  std::set<Key> keys_;
};

AllowedKernels& allowed_kernels() {
  static AllowedKernels kernels;
  return kernels;
}

/// Sets the limit to what the device allows a block, less the memory that the kernel declares itself.
cudaError_t set_limit(const void* kernel, int device) noexcept {
  cudaFuncAttributes attributes{};
  int most = 0;
  cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (error != cudaSuccess) return error;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              most - static_cast<int>(attributes.sharedSizeBytes));
}

} // namespace

Status allow_most_shared(const void* kernel, const char* name) noexcept try {
  int device = 0;
  if (Status status = check(cudaGetDevice(&device), "the current device"); !status.ok()) return status;
  const AllowedKernels::Key key(kernel, device);
  if (allowed_kernels().contains(key)) return {};
  if (Status status = check_kernel(set_limit(kernel, device), "more shared memory for ", name); !status.ok())
    return status;
  allowed_kernels().add(key);
  return {};
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

} // namespace tessera::cuda
