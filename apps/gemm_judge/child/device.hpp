#pragma once

/// The machine on which the judged kernel runs. Memory and copies come from Tessera's executor. In addition it can wait
/// for all work on the device, on whatever stream, which an executor cannot.

#include <cstddef>
#include <vector>

#include <tessera/executor.hpp>

#include "gemm_judge/channel.hpp"

namespace tessera::judge {

class Machine {
 public:
  /// Throws BackendUnavailable with the reason.
  explicit Machine(Device device);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  Executor& executor() noexcept { return executor_; }
  /// Waits for all work of this process on the device. On the processor it does nothing.
  Status synchronize() noexcept;
  /// Fills the device's second-level cache with other data, so that a call finds no operand there. On the processor it
  /// does nothing. Throws OutOfMemory, or DeviceError.
  void flush_cache();

 private:
  Executor& executor_;
  std::vector<std::byte> others_;                    ///< what fills the cache
  void* on_device_ = nullptr;                        ///< room for it
  int (*synchronize_context_)() = nullptr;           ///< cuCtxSynchronize
  int (*reset_persisting_)() = nullptr;              ///< cuCtxResetPersistingL2Cache; null in old drivers
  int (*error_string_)(int, const char**) = nullptr; ///< cuGetErrorString
};

} // namespace tessera::judge
