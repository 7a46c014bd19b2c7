#include "device_files.hpp"

#include <unistd.h>

#include <algorithm>
#include <iterator>

namespace tessera::opencl {

bool has_device_files() noexcept {
  constexpr const char* files[] = {
      "/dev/dri",        // AMD, Intel, and others with drivers in Mesa
      "/dev/kfd",        // AMD's compute driver
      "/dev/nvidiactl",  // NVIDIA
      "/dev/nvhost-gpu", // NVIDIA's boards
      "/dev/mali0",      // Arm
      "/dev/kgsl-3d0",   // Qualcomm
      "/dev/dxg",        // Windows' GPUs in its subsystem for Linux
  };
  return std::any_of(std::begin(files), std::end(files), [](const char* file) { return ::access(file, F_OK) == 0; });
}

} // namespace tessera::opencl
