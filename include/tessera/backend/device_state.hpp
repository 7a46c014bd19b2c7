#pragma once

/// What a device is doing at the moment, by its driver's own account: clocks explain times.

#include <limits>

#include <tessera/detail/export.hpp>
#include <tessera/executor.hpp>
#include <tessera/status.hpp>

namespace tessera {

/// NaN: not known.
struct DeviceState {
  double sm_mhz = std::numeric_limits<double>::quiet_NaN(); ///< clock of the multiprocessors
  double memory_mhz = std::numeric_limits<double>::quiet_NaN();
  double power_w = std::numeric_limits<double>::quiet_NaN(); ///< watts, as averaged by the driver
  double temperature_c = std::numeric_limits<double>::quiet_NaN();
};

/// What an executor implements besides Executor if its device can be asked.
class TESSERA_API DeviceMonitor {
 public:
  virtual ~DeviceMonitor();
  /// Unavailable, with the reason, if nothing is known.
  virtual Status read_state(DeviceState& state) noexcept = 0;
};

/// Unavailable if this executor's device cannot be asked.
TESSERA_API Status read_device_state(Executor& executor, DeviceState& state) noexcept;

} // namespace tessera
