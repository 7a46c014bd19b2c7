#pragma once

/// cuBLAS, opened at run time, because this program is also built without CUDA's headers.

#include <tessera/backend.hpp>
#include <tessera/executor.hpp>
#include <tessera/status.hpp>

namespace tessera::bench {

class Cublas {
 public:
  /// cublasHandle_t
  using Handle = void*;

  /// Opens the library where the linker or the toolkit has one. Throws DeviceError if it cannot start.
  Cublas();
  bool exists() const { return library_ != nullptr; }

  /// Throws BackendUnavailable if the library has no such function.
  template <class Function>
  Function function(const char* name) const {
    return reinterpret_cast<Function>(find(name));
  }
  /// The handle, whose calls are enqueued in `queue` from now on.
  Handle handle_on(Queue& queue) const;

  /// cublasOperation_t
  static int word(Op op) { return op == Op::None ? 0 : 1; }
  /// Throws DeviceError unless the status is 0.
  static void check(int status, const char* function);

 private:
  void* find(const char* name) const;

  void* library_ = nullptr;
  Handle handle_ = nullptr;
  int (*set_stream_)(Handle, void*) = nullptr;
};

} // namespace tessera::bench
