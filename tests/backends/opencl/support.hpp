#pragma once

/// What the tests of the OpenCL backend share.

#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/tessera.hpp>

namespace tessera::opencl_test {

inline const BackendInfo info() {
  for (const BackendInfo& one : available_backends())
    if (one.backend == Backend::OpenCl) return one;
  throw std::logic_error("available_backends() does not list opencl");
}

/// Returns whether there is a device, and says that the test is skipped if there is none.
inline bool has_device() {
  const BackendInfo found = info();
  if (!found.available) BOOST_TEST_MESSAGE("SKIPPED: opencl is not available: " << found.reason);
  return found.available;
}

/// Returns whether the device computes in f64.
inline bool has_f64() {
  Executor& device = executor(Backend::OpenCl);
  return device.map(device.default_queue(), {.op = MapOp::Fill, .type = DType::F64}).ok();
}

/// Memory of an executor, as long as the object lives.
template <class T>
class OnDevice {
 public:
  OnDevice(Executor& executor, std::size_t count) : executor_(executor), count_(count) {
    void* memory = nullptr;
    throw_if_failed(executor.allocate(count * sizeof(T), memory));
    data_ = static_cast<T*>(memory);
  }
  OnDevice(Executor& executor, const std::vector<T>& numbers) : OnDevice(executor, numbers.size()) {
    const std::size_t bytes = count_ * sizeof(T);
    throw_if_failed(executor.copy_in(executor.default_queue(), data_, bytes, numbers.data(), bytes, bytes, 1));
  }
  ~OnDevice() { executor_.free(data_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  T* data() const { return data_; }
  std::vector<T> fetch() const {
    std::vector<T> numbers(count_);
    const std::size_t bytes = count_ * sizeof(T);
    throw_if_failed(executor_.copy_out(executor_.default_queue(), numbers.data(), bytes, data_, bytes, bytes, 1));
    return numbers;
  }

 private:
  Executor& executor_;
  std::size_t count_;
  T* data_ = nullptr;
};

/// 0, 1, 2, …
template <class T>
std::vector<T> counted(std::size_t count) {
  std::vector<T> numbers(count);
  for (std::size_t e = 0; e < count; ++e) numbers[e] = static_cast<T>(e);
  return numbers;
}

} // namespace tessera::opencl_test
