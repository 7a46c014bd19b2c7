#pragma once

/// Memory for the numbers of a matrix that an algorithm needs beside its operands.

#include <algorithm>
#include <new>

#include <tessera/types.hpp>

#include "core/base/host_memory.hpp"

namespace tessera::linear_algebra {

/// So many numbers with undefined contents; throws std::bad_alloc. Large memory is on huge pages where the system
/// grants them, because the first touch of small ones can take as long as the algorithm.
template <class T>
class HostNumbers {
 public:
  explicit HostNumbers(Index count)
      : data_(static_cast<T*>(allocate_host(rounded(static_cast<std::size_t>(count) * sizeof(T))))) {
    if (data_ == nullptr) throw std::bad_alloc();
  }
  ~HostNumbers() { free_host(data_); }
  HostNumbers(const HostNumbers&) = delete;
  HostNumbers& operator=(const HostNumbers&) = delete;

  T* get() const { return data_; }

 private:
  /// Memory of less than two huge pages would be on small ones; what is not touched costs nothing.
  static std::size_t rounded(std::size_t bytes) {
    constexpr std::size_t worth_huge_pages = std::size_t{1} << 20, two_huge_pages = std::size_t{4} << 20;
    return bytes < worth_huge_pages ? bytes : std::max(bytes, two_huge_pages);
  }

  T* data_;
};

} // namespace tessera::linear_algebra
