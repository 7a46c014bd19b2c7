#include "cublas.hpp"

#include <dlfcn.h>

#include <fmt/format.h>

namespace tessera::bench {

void Cublas::check(int status, const char* function) {
  if (status != 0) throw DeviceError(fmt::format("{}: status {}", function, status));
}

Cublas::Cublas() {
  for (const char* file : {"libcublas.so.13", "libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so.13",
                           "/usr/local/cuda/lib64/libcublas.so.12"})
    if (library_ == nullptr) library_ = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) return;
  check(function<int (*)(Handle*)>("cublasCreate_v2")(&handle_), "cublasCreate");
  set_stream_ = function<int (*)(Handle, void*)>("cublasSetStream_v2");
}

void* Cublas::find(const char* name) const {
  void* found = dlsym(library_, name);
  if (found == nullptr) throw BackendUnavailable(fmt::format("this cuBLAS has no {}", name));
  return found;
}

Cublas::Handle Cublas::handle_on(Queue& queue) const {
  check(set_stream_(handle_, queue.native()), "cublasSetStream");
  return handle_;
}

} // namespace tessera::bench
