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
    // A driver before CUDA 11 keeps nothing in the cache for good, and lacks this function.
    reset_persisting_ = reinterpret_cast<int (*)()>(dlsym(driver, "cuCtxResetPersistingL2Cache"));
    error_string_ = reinterpret_cast<int (*)(int, const char**)>(dlsym(driver, "cuGetErrorString"));
  }
  if (synchronize_context_ == nullptr || error_string_ == nullptr)
    throw BackendUnavailable("libcuda.so.1 has no cuCtxSynchronize; reinstall the NVIDIA driver");
  // This makes the executor's device current on this thread, in which the kernel will run.
  throw_if_failed(executor_.default_queue().synchronize());
}

Machine::~Machine() { executor_.free(on_device_); }

void Machine::flush_cache() {
  if (synchronize_context_ == nullptr) return;
  if (others_.empty()) {
    // Twice the cache, because a cache does not evict strictly in order.
    others_.resize(2 * executor_.capabilities().l2_bytes);
    throw_if_failed(executor_.allocate(others_.size(), on_device_));
  }
  if (reset_persisting_ != nullptr) reset_persisting_(); // what a kernel asked the GPU to keep
  const std::size_t bytes = others_.size();
  throw_if_failed(executor_.copy_in(executor_.default_queue(), on_device_, bytes, others_.data(), bytes, bytes, 1));
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
