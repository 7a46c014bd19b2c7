#pragma once

/// The state of a device at the moment, as its driver reports it. Clock frequencies explain measured times.

#include <limits>

#include <tessera/detail/export.hpp>
#include <tessera/executor.hpp>
#include <tessera/status.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// A member that is not known is NaN.
struct DeviceState {
  double sm_mhz = std::numeric_limits<double>::quiet_NaN();        ///< clock frequency of the multiprocessors
  double memory_mhz = std::numeric_limits<double>::quiet_NaN();    ///< clock frequency of the memory
  double power_w = std::numeric_limits<double>::quiet_NaN();       ///< watts, as averaged by the driver
  double temperature_c = std::numeric_limits<double>::quiet_NaN(); ///< degrees Celsius
};

/// The second interface of an executor whose device reports its state.
class TESSERA_API DeviceMonitor {
 public:
  /// Ends the monitor together with its executor.
  virtual ~DeviceMonitor();
  /// Fills `state`. Unavailable, with the reason, if nothing is known.
  virtual Status read_state(DeviceState& state) noexcept = 0;
};

/// Fills `state` with the state of the executor's device. Unavailable if the executor is no DeviceMonitor.
TESSERA_API Status read_device_state(Executor& executor, DeviceState& state) noexcept;

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
