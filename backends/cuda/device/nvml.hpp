#pragma once

/// NVIDIA's management library, opened when a device's state is first asked for: it comes with the driver.

#include <string>

#include <tessera/backend/device_state.hpp>

namespace tessera::cuda {

class Nvml {
 public:
  /// The one of this process.
  static const Nvml& instance() noexcept;

  /// `device`: CUDA's number. Unavailable, with the reason, without the library or for a device that it does not know.
  Status read_state(int device, DeviceState& state) const noexcept;

 private:
  using Device = struct Opaque*;

  Nvml() noexcept;

  const char* missing_ = nullptr;
  // As in nvml.h, which not every toolkit has. 0 is success.
  int (*init_)() = nullptr;
  int (*device_by_bus_)(const char* bus, Device* device) = nullptr;
  int (*clock_)(Device device, int kind, unsigned* mhz) = nullptr;
  int (*power_)(Device device, unsigned* milliwatts) = nullptr;
  int (*temperature_)(Device device, int sensor, unsigned* celsius) = nullptr;
};

} // namespace tessera::cuda
