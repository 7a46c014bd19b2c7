#include <tessera/backend/device_state.hpp>

namespace tessera {

DeviceMonitor::~DeviceMonitor() = default;

Status read_device_state(Executor& executor, DeviceState& state) noexcept {
  auto* monitor = dynamic_cast<DeviceMonitor*>(&executor);
  return monitor != nullptr ? monitor->read_state(state) : Status{StatusCode::Unavailable, {}};
}

} // namespace tessera
