#include "device.hpp"

#include <dlfcn.h>

#include <tessera/backend.hpp>

namespace tessera::judge {

/// The CUDA part opens the driver. The judged library brings its own CUDA runtime; both runtimes use the device's
/// primary context, so the driver's cuCtxSynchronize() waits for the streams of both. The plug-in has opened the driver
/// already.
Machine::Machine(Device device)
    : executor_(tessera::executor(device == Device::Cuda ? Backend::Cuda : Backend::Reference)) {
  if (device == Device::Cpu) return;
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver != nullptr) {
    synchronize_context_ = reinterpret_cast<int (*)()>(dlsym(driver, "cuCtxSynchronize"));
    error_string_ = reinterpret_cast<int (*)(int, const char**)>(dlsym(driver, "cuGetErrorString"));
  }
  if (synchronize_context_ == nullptr || error_string_ == nullptr)
    throw BackendUnavailable("libcuda.so.1 has no cuCtxSynchronize; reinstall the NVIDIA driver");
  // This makes the executor's device current on this thread, in which the kernel will run.
  throw_if_failed(executor_.default_queue().synchronize());
}

Status Machine::synchronize() noexcept {
  if (synchronize_context_ == nullptr) return {};
  const int error = synchronize_context_();
  if (error == 0) return {};
  const char* text = nullptr;
  error_string_(error, &text);
  return Status::failure(StatusCode::DeviceError,
                         "CUDA error " + std::to_string(error) + (text ? std::string(" (") + text + ")" : ""));
}

} // namespace tessera::judge
