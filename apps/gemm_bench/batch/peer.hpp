#pragma once

/// The peers of a race of batches: Tessera, strided and with pointers, and other libraries' two functions.

#include <memory>
#include <string>
#include <vector>

#include <tessera/executor.hpp>

namespace tessera::bench {

/// One batch in two forms, in the memory of the executor that computes it.
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
  /// Computes the batch; on a device, enqueues it in the executor's default queue. Throws if it fails.
  virtual void multiply(const BatchWork& work) = 0;
};

using BatchPeers = std::vector<std::unique_ptr<BatchPeer>>;

/// Returns Tessera's processor backends, then the libraries that have batches: `libraries`, which are files, or if
/// there are none the usual libraries where the linker finds them. Throws InvalidArgument if a file cannot be used.
BatchPeers make_batch_peers(const std::vector<std::string>& libraries);

/// Returns Tessera's CUDA backend, with batches and with one product after another, and cuBLAS. Throws
/// BackendUnavailable without a device.
BatchPeers make_device_batch_peers();

/// Returns a peer that is one of Tessera's backends. With `one_by_one` its batches are loops over products.
std::unique_ptr<BatchPeer> tessera_batch_peer(Backend backend, bool pointers, bool one_by_one = false);

} // namespace tessera::bench
