#pragma once

/// Loads small_device.cpp, a device with little memory, as the CUDA plug-in.

#include <cstdlib>
#include <vector>

#include <tessera/backend.hpp>

namespace tessera::test {

/// Must be called before the first product of a process.
inline void use_small_device() { setenv("TESSERA_PLUGIN_PATH", PLUGIN_DIR "/small_device", 1); }

using Executors = std::vector<Executor*>;

/// Returns one of the two small devices.
inline Executor& device(int number) { return executor(Backend::Cuda, number); }

/// Returns the executors of all backends in host memory.
inline Executors host_executors() {
  Executors hosts;
  for (const BackendInfo& info : available_backends())
    if (info.available && info.memory == Memory::Host) hosts.push_back(&executor(info.backend));
  return hosts;
}

} // namespace tessera::test
