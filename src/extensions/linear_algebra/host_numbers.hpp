#pragma once

/// Memory for the numbers of a matrix that an algorithm needs beside its operands.

#include <memory>
#include <new>
#include <vector>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/types.hpp>

#include "core/base/host_memory.hpp"
#include "numbers.hpp"

namespace tessera::linear_algebra {

inline constexpr const char* beside_a_matrix = "the numbers beside a matrix"; ///< what the memory is for

/// Returns so many zeros; throws HostMemoryShort.
template <class T>
std::vector<T> zeros(Index count) {
  return sized_vector<T>(static_cast<std::size_t>(count), beside_a_matrix);
}

/// So many numbers with undefined contents, which the C library keeps for the next call; throws HostMemoryShort.
template <class T>
class Scratch {
 public:
  explicit Scratch(Index count) try
      : parts_(std::make_unique_for_overwrite<Part<T>[]>(static_cast<std::size_t>(count * Number<T>::parts))) {
  } catch (const std::bad_alloc&) {
    throw HostMemoryShort(beside_a_matrix, static_cast<std::size_t>(count) * sizeof(T));
  }
  T* data() const { return reinterpret_cast<T*>(parts_.get()); }

 private:
  std::unique_ptr<Part<T>[]> parts_;
};

/// So many numbers with undefined contents; throws HostMemoryShort. From 4 MiB on they are on huge pages where the
/// system grants them, because the first touch of small ones can take as long as the algorithm; less the C library
/// keeps.
template <class T>
class HostNumbers {
 public:
  explicit HostNumbers(Index count)
      : data_(static_cast<T*>(allocate_host(static_cast<std::size_t>(count) * sizeof(T)))) {
    if (data_ == nullptr) throw HostMemoryShort(beside_a_matrix, static_cast<std::size_t>(count) * sizeof(T));
  }
  ~HostNumbers() { free_host(data_); }
  HostNumbers(const HostNumbers&) = delete;
  HostNumbers& operator=(const HostNumbers&) = delete;

  T* get() const { return data_; }

 private:
  T* data_;
};

} // namespace tessera::linear_algebra
