#pragma once

/// The machine on which the judged kernel runs. Memory and copies come from Tessera's executor. In addition it can wait
/// for all work on the device, on whatever stream, which an executor cannot.

#include <tessera/executor.hpp>

#include "judge/channel.hpp"

namespace tessera::judge {

class Machine {
 public:
  /// Throws BackendUnavailable with the reason.
  explicit Machine(Device device);

  Executor& executor() noexcept { return executor_; }
  /// Waits for all work of this process on the device. On the processor it does nothing.
  Status synchronize() noexcept;

 private:
  Executor& executor_;
  int (*synchronize_context_)() = nullptr;           ///< cuCtxSynchronize
  int (*error_string_)(int, const char**) = nullptr; ///< cuGetErrorString
};

} // namespace tessera::judge
