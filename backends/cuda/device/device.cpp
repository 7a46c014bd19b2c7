#include "device.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <fstream>
#include <new>
#include <optional>
#include <string>

#include "device_code.hpp"
#include "environment.hpp"
#include "status.hpp"

namespace tessera::cuda {
namespace {

Status unavailable(std::string why) { return Status::failure(StatusCode::Unavailable, std::move(why)); }

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string text_of(cudaError_t error) {
  return std::string(cudaGetErrorString(error)) + " (" + cudaGetErrorName(error) + ")";
}

/// Returns the advice where the driver shows no device.
std::string where_devices_may_be() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return visible ? "; CUDA_VISIBLE_DEVICES is '" + std::string(visible) + "', unset it to see all devices"
                 : "; nvidia-smi says which GPUs it sees (in a container, start it with access to the GPU)";
}

/// Counts the devices that the driver shows. Fails with the reason if there are none.
Status count_devices(int& count) {
  count = 0;
  int driver = 0;
  int runtime = 0;
  static_cast<void>(cudaRuntimeGetVersion(&runtime));
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
    static_cast<void>(cudaGetLastError());
    return unavailable("no NVIDIA driver: libcuda.so.1 could not be opened; install a driver for CUDA " +
                       version_text(runtime) + " or later (in a container, start it with access to the GPU)");
  }
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count > 0) return {};
  static_cast<void>(cudaGetLastError());
  count = 0;
  if (error == cudaErrorInsufficientDriver)
    return unavailable("the NVIDIA driver is too old: it supports CUDA " + version_text(driver) +
                       ", this plug-in needs CUDA " + version_text(runtime) + "; update the driver");
  if (error == cudaSuccess || error == cudaErrorNoDevice)
    return unavailable("the NVIDIA driver (CUDA " + version_text(driver) + ") shows no device" +
                       where_devices_may_be());
  const char* advice = error != cudaErrorInitializationError
                           ? ""
                           : "; if this process was forked from one that had used CUDA, start it as a new program (in "
                             "Python: multiprocessing's 'spawn')";
  return unavailable("the NVIDIA driver (CUDA " + version_text(driver) +
                     ") cannot list its devices: " + text_of(error) + advice);
}

std::string how_many(int count) {
  return count == 1 ? "this machine has 1 CUDA device, number 0"
                    : "this machine has " + std::to_string(count) + " CUDA devices" +
                          (count > 0 ? ", numbers 0 to " + std::to_string(count - 1) : "");
}

std::string name_of(int device) {
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return "device " + std::to_string(device);
  }
  return "device " + std::to_string(device) + " (" + properties.name + ", compute capability " +
         std::to_string(properties.major) + "." + std::to_string(properties.minor) + ")";
}

/// Returns why the device cannot be used, or an empty text if it can be used.
std::string why_unusable(int device) {
  int mode = cudaComputeModeDefault;
  static_cast<void>(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, device));
  if (mode == cudaComputeModeProhibited)
    return name_of(device) + ": its compute mode prohibits CUDA; see nvidia-smi -c";
  cudaError_t error = cudaSetDevice(device);
  if (error != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return name_of(device) + " cannot be started: " + text_of(error);
  }
  DeviceCode code{};
  error = find_device_code(code);
  if (error == cudaSuccess) return {};
  static_cast<void>(cudaGetLastError());
  return name_of(device) +
         ": no code for this device; the plug-in was compiled for " TESSERA_CUDA_ARCHITECTURES
         ", rebuild it with its architecture in TESSERA_CUDA_ARCHITECTURES: " +
         text_of(error);
}

Status choose_named(int device, int count, const std::string& named_by) {
  if (device < 0 || device >= count)
    return unavailable(named_by + " = " + std::to_string(device) + " names no device; " + how_many(count));
  const std::string why = why_unusable(device);
  return why.empty() ? Status{} : unavailable(named_by + " = " + std::to_string(device) + ": " + why);
}

Status choose_first(int count, int& device) {
  std::string reasons;
  for (device = 0; device < count; ++device) {
    const std::string why = why_unusable(device);
    if (why.empty()) return {};
    reasons += (reasons.empty() ? "" : "; ") + why;
  }
  return unavailable("no CUDA device can be used: " + reasons);
}

/// Returns the driver package's version, e.g. 580.65.06, or an empty text if the kernel module does not tell it.
std::string driver_release() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string release;
  file >> release;
  return release;
}

} // namespace

Status choose_device(int wanted, int& device) noexcept try {
  std::optional<int> from_environment;
  int count = 0;
  if (wanted < 0) {
    Status parsed = device_from_environment(from_environment);
    if (!parsed.ok()) {
      static_cast<void>(count_devices(count));
      parsed.why += "; " + how_many(count);
      return parsed;
    }
  }
  if (Status status = count_devices(count); !status.ok()) return status;
  if (wanted < 0 && !from_environment) return choose_first(count, device);
  device = from_environment.value_or(wanted);
  return choose_named(device, count, from_environment ? "TESSERA_CUDA_DEVICE" : "ExecutorOptions.device");
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

Status read_capabilities(int device, Capabilities& capabilities) noexcept try {
  cudaDeviceProp properties{};
  if (Status status = check(cudaGetDeviceProperties(&properties, device), "reading the device's properties");
      !status.ok())
    return status;
  int driver = 0;
  int runtime = 0;
  static_cast<void>(cudaDriverGetVersion(&driver));
  static_cast<void>(cudaRuntimeGetVersion(&runtime));
  capabilities.backend = Backend::Cuda;
  capabilities.device = properties.name;
  capabilities.device_index = device;
  capabilities.host_memory = false;
  capabilities.memory_bytes = properties.totalGlobalMem;
  capabilities.l2_bytes = static_cast<std::size_t>(std::max(properties.l2CacheSize, 0));
  DeviceCode code{};
  if (Status status = check(find_device_code(code), "looking for the device's code"); !status.ok()) return status;
  capabilities.compute_major = properties.major;
  capabilities.compute_minor = properties.minor;
  if (code == DeviceCode::Turing && properties.major > 7) {
    capabilities.compute_major = 7;
    capabilities.compute_minor = 5;
  } else if (code == DeviceCode::Ampere &&
             properties.major == 9) { // Later devices keep theirs, since no kernel is for them.
    capabilities.compute_major = 8;
    capabilities.compute_minor = 0;
  }
  capabilities.multiprocessors = properties.multiProcessorCount;
  capabilities.has_panels = true;
  capabilities.kernel_revision = 7;
  capabilities.shared_memory_per_block = properties.sharedMemPerBlockOptin;
  const std::string release = driver_release();
  capabilities.driver = "driver " + (release.empty() ? "" : release + " ") + "(CUDA " + version_text(driver) +
                        "), runtime CUDA " + version_text(runtime);
  return {};
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

} // namespace tessera::cuda
