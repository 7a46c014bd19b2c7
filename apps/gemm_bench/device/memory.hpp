#pragma once

/// A piece of an executor's memory that is given back at the end of a scope.

#include <cstddef>

#include <tessera/executor.hpp>

namespace tessera::bench {

/// Throws OutOfMemory and DeviceError. The executor must outlive the memory.
class DeviceMemory {
 public:
  DeviceMemory(Executor& where, std::size_t bytes) : where_(where), bytes_(bytes) {
    throw_if_failed(where.allocate(bytes, data_));
  }
  ~DeviceMemory() { where_.free(data_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  std::size_t bytes() const { return bytes_; }
  /// Copies all of it from the host.
  void write(const void* host) { throw_if_failed(where_.copy_in(queue(), data_, bytes_, host, bytes_, bytes_, 1)); }
  /// Copies all of it to the host.
  void read(void* host) const { read(host, 0, bytes_); }
  /// Copies `bytes` bytes from `offset` on to the host.
  void read(void* host, std::size_t offset, std::size_t bytes) const {
    throw_if_failed(where_.copy_out(queue(), host, bytes, as<const char>() + offset, bytes, bytes, 1));
  }

 private:
  Queue& queue() const { return where_.default_queue(); }

  Executor& where_;
  std::size_t bytes_;
  void* data_ = nullptr;
};

} // namespace tessera::bench
