#pragma once

/// Who takes part in a race of batches: Tessera, strided and with pointers, and other libraries' two functions.

#include <memory>
#include <string>
#include <vector>

#include <tessera/executor.hpp>

namespace tessera::bench {

/// The same products twice, in the memory of the executor that they belong to.
struct BatchWork {
  GemmBatch strided;
  GemmBatch with_pointers;        ///< arrays in host memory
  const void* device_a = nullptr; ///< the arrays in device memory, for libraries that want them there
  const void* device_b = nullptr;
  void* device_c = nullptr;
};

class BatchPeer {
 public:
  virtual ~BatchPeer() = default;
  virtual const std::string& name() const = 0;
  /// On a device the work is enqueued in the executor's default queue. Throws where it fails.
  virtual void multiply(const BatchWork& work) = 0;
};

using BatchPeers = std::vector<std::unique_ptr<BatchPeer>>;

/// Tessera's processor backends, then the libraries that have batches: files, or those found where the linker looks.
/// Throws InvalidArgument where a file cannot be used.
BatchPeers make_batch_peers(const std::vector<std::string>& libraries);

/// Tessera's CUDA backend, batched and product after product, and cuBLAS. Throws BackendUnavailable without a device.
BatchPeers make_device_batch_peers();

/// One of Tessera's own; with `one_by_one` its batches are loops.
std::unique_ptr<BatchPeer> tessera_batch_peer(Backend backend, bool pointers, bool one_by_one = false);

} // namespace tessera::bench
