#pragma once

/// NVIDIA's management library (NVML). It comes with the driver and is opened when a device's state is first asked for.

#include <string>

#include <tessera/backend/device_state.hpp>

namespace tessera::cuda {

class Nvml {
 public:
  /// Reads clocks, power and temperature of the device that CUDA numbers `device`. Fails with Unavailable and the
  /// reason if the library is missing or does not know the device.
  static Status read_state(int device, DeviceState& state) noexcept;

 private:
  using Device = struct Opaque*;

  /// Returns the only instance of this process. Throws std::bad_alloc.
  static const Nvml& instance();
  Status read(int device, DeviceState& state) const;

  Nvml() noexcept;

  const char* missing_ = nullptr;
  // The signatures are nvml.h's, which not every toolkit has. A result of 0 means success.
  int (*init_)() = nullptr;
  int (*device_by_bus_)(const char* bus, Device* device) = nullptr;
  int (*clock_)(Device device, int kind, unsigned* mhz) = nullptr;
  int (*power_)(Device device, unsigned* milliwatts) = nullptr;
  int (*temperature_)(Device device, int sensor, unsigned* celsius) = nullptr;
};

} // namespace tessera::cuda
