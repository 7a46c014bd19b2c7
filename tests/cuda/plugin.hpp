#pragma once

/// The plug-in itself, and an environment variable set for a while.

#include <memory>
#include <string>

#include <tessera/backend/plugin.hpp>

namespace tessera::cuda_test {

/// As libtessera found it. Throws where there is none.
const PluginInfo& cuda_plugin();

/// An executor apart from the process-wide one.
struct DestroyExecutor {
  void operator()(Executor* executor) const { cuda_plugin().destroy(executor); }
};
using OwnExecutor = std::unique_ptr<Executor, DestroyExecutor>;
Status create_own(OwnExecutor& executor, int device = -1, int threads = 2);

class Environment {
 public:
  /// `value` null: unset.
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
