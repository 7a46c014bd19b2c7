#pragma once

/// Which backends this process can use, and why not the others.

#include <span>
#include <string>
#include <vector>

#include <tessera/executor.hpp>
#include <tessera/types.hpp>

namespace tessera {

struct BackendInfo {
  Backend backend = Backend::Reference;
  bool built = false;     ///< a plug-in of this name was found and loaded
  bool available = false; ///< an executor can be had
  std::string reason;     ///< why not, and what to do about it; empty if available
  std::string path;       ///< the plug-in's file; empty for the reference backend, or where none was found
};

/// Every backend that Tessera knows, in the order of preference. Loads the plug-ins to find out.
TESSERA_API std::vector<BackendInfo> available_backends();

/// The process-wide executor of a backend, made on first use and kept until the process ends.
/// Throws BackendUnavailable with the reason. Auto: the best one available.
TESSERA_API Executor& executor(Backend backend);

/// Rows of a backend's ladder, also where the plug-in has no device. Empty where the plug-in is missing.
TESSERA_API std::span<const GemmKernel> gemm_kernels(Backend backend);
TESSERA_API std::span<const ReduceKernel> reduce_kernels(Backend backend);

/// Threads that CPU executors use by default: TESSERA_NUM_THREADS, then OMP_NUM_THREADS, then the process's
/// affinity and cgroup quota. Throws InvalidArgument if the first of them that is set is not a number ≥ 1.
TESSERA_API int default_threads();

} // namespace tessera
