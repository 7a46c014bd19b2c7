#pragma once

/// The stand-in for a device with little memory: small_device.cpp, in the place of the CUDA plug-in.

#include <cstdlib>

namespace tessera::test {

/// Before the first product of a process.
inline void use_small_device() { setenv("TESSERA_PLUGIN_PATH", PLUGIN_DIR "/small_device", 1); }

} // namespace tessera::test
