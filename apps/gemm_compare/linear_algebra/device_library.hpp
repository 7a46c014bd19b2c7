#pragma once

/// A library of NVIDIA's that computes on a GPU, opened at run time and called without its headers: the file, a handle,
/// functions by their names, and the memory of a run.

#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <tessera/executor.hpp>
#include <tessera/status.hpp>

#include "cuda/device/vendor_library.hpp"
#include "race/operands.hpp"

namespace tessera::compare_app {

/// Values of cublasFillMode_t, cublasOperation_t, cublasSideMode_t and cublasDiagType_t, which cuSOLVER takes, too.
namespace vendor {
inline constexpr int lower = 0, as_it_is = 0, transposed = 1, left = 0, stored_diagonal = 0;
} // namespace vendor

class DeviceLibrary {
 public:
  /// A library, and its functions that make a handle, end it, and give it a stream.
  struct Names {
    cuda::VendorLibrary file;
    const char* create;
    const char* destroy;
    const char* set_stream;
  };
  explicit DeviceLibrary(const Names& names) : names_(names) {}
  /// Ends the handle. The library stays open.
  ~DeviceLibrary();
  DeviceLibrary(const DeviceLibrary&) = delete;
  DeviceLibrary& operator=(const DeviceLibrary&) = delete;

  /// Returns why the library cannot be used for these functions; "" if it can. Opens the library.
  std::string problem_with(std::span<const std::string> functions);
  /// Returns the library's handle, which works in the stream of the executor's default queue. The first call makes it;
  /// memory that the executor has just given has made its device the thread's own. Throws Error with the status.
  void* handle(Executor& executor);

  /// Returns a function of the opened library. Throws Error where there is none of the name.
  template <class Function>
  Function* function(const std::string& name) {
    return reinterpret_cast<Function*>(symbol(name));
  }

 private:
  void* symbol(const std::string& name);
  std::string open();

  const Names names_;
  void* library_ = nullptr;
  void* handle_ = nullptr;
};

/// Throws Error with the name and the status of a function of such a library, unless that is 0.
void expect_success(const std::string& function, int status);

/// Elements on a device.
template <class T>
class DeviceElements {
 public:
  /// Throws OutOfMemory.
  DeviceElements(Executor& executor, std::size_t count)
      : executor_(executor), count_(count), buffer_(executor, count * sizeof(T)) {}
  DeviceElements(Executor& executor, const std::vector<T>& elements) : DeviceElements(executor, elements.size()) {
    if (count_ > 0)
      throw_if_failed(
          executor.copy_in(executor.default_queue(), data(), bytes(), elements.data(), bytes(), bytes(), 1));
  }
  T* data() const { return static_cast<T*>(buffer_.data()); }
  /// Copies them to the host.
  void fetch(std::vector<T>& elements) const {
    elements.resize(count_);
    if (count_ > 0)
      throw_if_failed(
          executor_.copy_out(executor_.default_queue(), elements.data(), bytes(), data(), bytes(), bytes(), 1));
  }

 private:
  std::size_t bytes() const { return count_ * sizeof(T); }

  Executor& executor_;
  std::size_t count_;
  Buffer buffer_;
};

} // namespace tessera::compare_app
