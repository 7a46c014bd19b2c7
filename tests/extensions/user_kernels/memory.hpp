#pragma once

/// Memory of the backend under test, which is device memory where the backend is a device.

#include <vector>

#include <tessera/executor.hpp>
#include <tessera/status.hpp>

#include "support/subject.hpp"

namespace tessera::test {

template <class T>
class SubjectMemory {
 public:
  explicit SubjectMemory(const std::vector<T>& values) : count_(values.size()) {
    throw_if_failed(executor_.allocate(bytes() + 1, data_));
    if (count_ > 0)
      throw_if_failed(executor_.copy_in(executor_.default_queue(), data_, bytes(), values.data(), bytes(), bytes(), 1));
  }
  ~SubjectMemory() { executor_.free(data_); }
  SubjectMemory(const SubjectMemory&) = delete;
  SubjectMemory& operator=(const SubjectMemory&) = delete;

  T* data() const { return static_cast<T*>(data_); }
  std::vector<T> values() const {
    std::vector<T> values(count_);
    if (count_ > 0)
      throw_if_failed(
          executor_.copy_out(executor_.default_queue(), values.data(), bytes(), data_, bytes(), bytes(), 1));
    return values;
  }

 private:
  std::size_t bytes() const { return count_ * sizeof(T); }
  Executor& executor_ = conformance::subject();
  std::size_t count_;
  void* data_ = nullptr;
};

} // namespace tessera::test
