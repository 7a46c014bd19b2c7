#include "cuda_plugin.hpp"

#include <dlfcn.h>
#include <cstdlib>

#include <tessera/backend.hpp>

namespace tessera::cuda_test {

const PluginInfo& cuda_plugin() {
  for (const BackendInfo& info : available_backends()) {
    if (info.backend != Backend::Cuda) continue;
    if (!info.built) throw BackendUnavailable("the CUDA plug-in was not loaded: " + info.reason);
    void* library = dlopen(info.path.c_str(), RTLD_NOW | RTLD_LOCAL);
    const auto entry = library ? reinterpret_cast<PluginEntry>(dlsym(library, plugin_entry_name)) : nullptr;
    if (entry != nullptr) return *entry();
  }
  throw BackendUnavailable("the CUDA plug-in cannot be opened a second time");
}

Status create_own(OwnExecutor& executor, int device, int threads) {
  Executor* made = nullptr;
  Status status = cuda_plugin().create({.threads = threads, .device = device}, made);
  executor.reset(made);
  return status;
}

Environment::Environment(const char* name, const char* value) : name_(name) {
  const char* old = std::getenv(name);
  was_set_ = old != nullptr;
  if (was_set_) old_ = old;
  if (value != nullptr)
    setenv(name, value, 1);
  else
    unsetenv(name);
}

Environment::~Environment() {
  if (was_set_)
    setenv(name_.c_str(), old_.c_str(), 1);
  else
    unsetenv(name_.c_str());
}

} // namespace tessera::cuda_test
