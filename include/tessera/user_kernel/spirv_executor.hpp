#pragma once

/// What a backend does with device code in SPIR-V. An executor that takes such code is a SpirvExecutor, too; libtessera
/// finds out by dynamic_cast, so that other backends know nothing of it. Programs call for_each() and its like
/// (run.hpp).

#include <cstddef>

#include <tessera/executor.hpp>
#include <tessera/user_kernel/spirv_table.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// A functor of a plug-in, and what an executor does with it.
struct SpirvCall {
  const SpirvTable* table = nullptr;     ///< the plug-in's table
  const SpirvFunctor* functor = nullptr; ///< the functor's entry in the table
  const void* bytes = nullptr;           ///< the functor, in host memory
  KernelOp op = KernelOp::ForEach;       ///< what is done
  int dimensions = 1;                    ///< the number of indices: 1 or 2
  Index rows = 0;                        ///< rows of the index space; 1 where there is one index
  Index cols = 0;                        ///< columns of the index space
  std::size_t value_size = 0;            ///< bytes of a value of the reduction or the scan
  void* scratch = nullptr;               ///< the executor's memory, as detail::kernel_levels() lays it out
};

/// An executor whose device compiles SPIR-V.
class SpirvExecutor {
 public:
  /// Says whether the device takes functors, or why not (Unavailable).
  virtual Status takes_spirv() noexcept = 0;
  /// Enqueues a functor's work. The plug-in's code is compiled at its first use. Fails with Rejected where the functor
  /// has no call operator for the operation; Unavailable where the device lacks what the code needs, or rounds
  /// otherwise; OutOfMemory; DeviceError.
  virtual Status run_spirv(Queue& queue, const SpirvCall& call) noexcept = 0;

 protected:
  ~SpirvExecutor() = default; ///< executors are ended as Executor
};

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
