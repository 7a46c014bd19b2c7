#include "nvml.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <memory>
#include <new>

#include <tessera/detail/found_once.hpp>

#include "status.hpp"
#include "vendor_library.hpp"

namespace tessera::cuda {
namespace {

constexpr int clock_sm = 1;     // NVML_CLOCK_SM
constexpr int clock_memory = 2; // NVML_CLOCK_MEM
constexpr int sensor_gpu = 0;   // NVML_TEMPERATURE_GPU

} // namespace

const Nvml& Nvml::instance() {
  static constinit detail::FoundOnce<const Nvml> nvml;
  return nvml.get([] { return std::unique_ptr<const Nvml>(new Nvml); });
}

Nvml::Nvml() noexcept {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    missing_ = "libnvidia-ml.so.1 was not found; it comes with the driver";
  else if (!find_symbol(library, "nvmlInit_v2", init_) ||
           !find_symbol(library, "nvmlDeviceGetHandleByPciBusId_v2", device_by_bus_) ||
           !find_symbol(library, "nvmlDeviceGetClockInfo", clock_) ||
           !find_symbol(library, "nvmlDeviceGetPowerUsage", power_) ||
           !find_symbol(library, "nvmlDeviceGetTemperature", temperature_))
    missing_ = "this libnvidia-ml.so.1 has not all functions that are needed; use a newer driver";
  else if (init_() != 0)
    missing_ = "NVML could not be initialised";
}

Status Nvml::read_state(int device, DeviceState& state) noexcept try {
  state = {};
  return instance().read(device, state);
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

Status Nvml::read(int device, DeviceState& state) const {
  if (missing_ != nullptr) return {StatusCode::Unavailable, missing_};
  char bus[32] = {};
  if (Status status = check(cudaDeviceGetPCIBusId(bus, sizeof bus, device), "asking for a device's bus"); !status.ok())
    return status;
  Device handle = nullptr;
  if (device_by_bus_(bus, &handle) != 0)
    return {StatusCode::Unavailable, "NVML does not know the device at " + std::string(bus)};
  const auto read = [](int result, unsigned value, double scale, double& into) {
    if (result == 0) into = value * scale;
  };
  unsigned value = 0;
  int result = clock_(handle, clock_sm, &value);
  read(result, value, 1, state.sm_mhz);
  result = clock_(handle, clock_memory, &value);
  read(result, value, 1, state.memory_mhz);
  result = power_(handle, &value);
  read(result, value, 1e-3, state.power_w);
  result = temperature_(handle, sensor_gpu, &value);
  read(result, value, 1, state.temperature_c);
  return {};
}

} // namespace tessera::cuda
