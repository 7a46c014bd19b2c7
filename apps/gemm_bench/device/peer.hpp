#pragma once

/// The peers of a race on a device: Tessera without a kernel's name, cuBLAS, the best of cuBLASLt's list, and kernels
/// of Tessera's ladder that the user names.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/checking/compare.hpp>
#include <tessera/executor.hpp>

#include "gemm_bench/cublas.hpp"

namespace tessera::bench {

/// A way to compute products on a device, as a caller asks for it.
struct DeviceMode {
  std::string_view name; ///< on the command line and in JSON
  DType type;
  Math math;
  const char* list_kernel; ///< Tessera's kernel that runs the fastest kernel of cuBLASLt's list
  int cublas_compute;      ///< cublasComputeType_t of the vendor's product that takes the mode's place
};

/// f32, f64, tf32, bf16, fp16, fp16x3, scaled_fp16, int8_units. fp16x3 is f32 by three products of fp16 parts; the
/// vendor's product in its place is SGEMM. In the place of scaled_fp16 it is the one in TF32, of int8_units DGEMM.
const std::vector<DeviceMode>& device_modes();

/// What a peer counts for in the ratio of times.
enum class Side {
  Ours,   ///< Tessera as a program calls it
  Vendor, ///< what it is compared with
  Kernel, ///< a kernel of Tessera's ladder by its name, which only shows what another choice would do
};

class DevicePeer {
 public:
  virtual ~DevicePeer() = default;
  virtual const std::string& name() const = 0;
  /// Enqueues the product and does not wait for it.
  virtual Status enqueue(Queue& queue, const GemmCall& call) = 0;
  /// The properties that decide the error bound of what this peer computes.
  virtual Arithmetic arithmetic(const DeviceMode& mode) const = 0;
  virtual Side side() const = 0;
};
using DevicePeers = std::vector<std::unique_ptr<DevicePeer>>;

/// Returns Tessera, the two of the vendor where cuBLAS exists, and each named kernel that the mode has.
DevicePeers make_device_peers(Executor& device, const DeviceMode& mode, const std::shared_ptr<Cublas>& cublas,
                              const std::vector<std::string>& kernels);

} // namespace tessera::bench
