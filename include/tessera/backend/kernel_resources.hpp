#pragma once

/// What a kernel takes of a device's multiprocessor, and how many of its blocks run there at once, as the driver says.

#include <string_view>

#include <tessera/backend/kernel.hpp>
#include <tessera/detail/export.hpp>
#include <tessera/executor.hpp>
#include <tessera/status.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// The resources of one kernel of a device, as it is launched for one product.
struct KernelResources {
  int registers = 0;      ///< of a thread
  int static_shared = 0;  ///< bytes of shared memory of a block that the kernel declares
  int dynamic_shared = 0; ///< bytes of shared memory of a block that the launch asks for
  int local_memory = 0;   ///< bytes of a thread: arrays and spilled registers
  int threads = 0;        ///< of a block
  int blocks = 0;         ///< that a multiprocessor runs at once; clusters may lower it
  double occupancy = 0;   ///< their threads, as a share of the threads that a multiprocessor can hold, 0 … 1
};

/// The second interface of a Recording whose device tells its kernels' resources.
class TESSERA_API RecordedResources {
 public:
  /// Ends the interface together with its recording.
  virtual ~RecordedResources();
  /// Fills `resources` for the recorded kernel whose blocks take the most registers: a product may also copy
  /// its operands or add partial sums. Unavailable, with the reason, if there is no kernel or the driver does not say.
  virtual Status read_resources(KernelResources& resources) noexcept = 0;
};

/// Fills `resources` for the kernel called `kernel` and this product. It records the product in the executor's default
/// queue and runs nothing. Unavailable if the executor does not record or its recordings are no RecordedResources;
/// otherwise the failure of the product. Throws std::bad_alloc.
TESSERA_API Status read_kernel_resources(Executor& executor, const GemmCall& call, std::string_view kernel,
                                         KernelResources& resources);

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
