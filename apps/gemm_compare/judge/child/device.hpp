#pragma once

/// The machine that the judged kernel runs on: memory and copies through Tessera's executor, and one thing more that
/// an executor does not offer: waiting for everything on the device, whatever stream it was put on.

#include <tessera/executor.hpp>

#include "judge/channel.hpp"

namespace tessera::judge {

class Machine {
 public:
  /// Throws BackendUnavailable with the reason.
  explicit Machine(Device device);

  Executor& executor() noexcept { return executor_; }
  /// Waits for all work of this process on the device; nothing to do on the processor.
  Status synchronize() noexcept;

 private:
  Executor& executor_;
  int (*synchronize_context_)() = nullptr;           ///< cuCtxSynchronize
  int (*error_string_)(int, const char**) = nullptr; ///< cuGetErrorString
};

} // namespace tessera::judge
