#pragma once

/// Gives access to the plug-in itself, and sets an environment variable for a while.

#include <memory>
#include <string>

#include <tessera/backend/plugin.hpp>

namespace tessera::cuda_test {

/// Returns the plug-in that libtessera found. Throws if there is none.
const PluginInfo& cuda_plugin();

/// Destroys an executor that create_own() made.
struct DestroyExecutor {
  void operator()(Executor* executor) const { cuda_plugin().destroy(executor); }
};
using OwnExecutor = std::unique_ptr<Executor, DestroyExecutor>;
/// Makes an executor apart from the process-wide one. `device`: see ExecutorOptions.
Status create_own(OwnExecutor& executor, int device = -1, int threads = 2);

/// Sets an environment variable for as long as the object lives.
class Environment {
 public:
  /// If `value` is null, the variable is unset.
  Environment(const char* name, const char* value);
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::string name_;
  std::string old_;
  bool was_set_;
};

} // namespace tessera::cuda_test
