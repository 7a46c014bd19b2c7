#pragma once

/// The GPU's memory as the lens lends it: one range of addresses, in which each allocation lies between gaps that
/// no allocation owns, so that an access past the end of one meets no other.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "shadow.hpp"

namespace tessera::lens {

struct Allocation {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  std::string name;
  bool freed = false;
  // Of a matrix of the product: its stored rows and columns, and its leading dimension. 0: unknown.
  std::size_t element = 0, rows = 0, columns = 0, ld = 0;
  std::vector<std::uint32_t> touched; ///< requests that touched each sector of 32 bytes
  ShadowMemory shadow;

  std::uintptr_t end() const { return begin + bytes; }
};

class DeviceMemory {
 public:
  /// Reserves the addresses. Returns false if the system has no room for them.
  bool reserve();
  /// Returns memory at a multiple of 256 bytes, whose first 64 MiB are NaN; null if it is more than is left.
  void* allocate(std::size_t bytes, std::string name);
  /// Returns false if no allocation begins there, or it has been freed.
  bool free(void* memory);

  bool holds(std::uintptr_t address) const { return address - begin_ < size; }
  /// Returns the allocation with the address, or else the nearest one; null if there is none at all.
  Allocation* find(std::uintptr_t address);
  std::vector<std::unique_ptr<Allocation>>& all() { return all_; }

  static constexpr std::size_t size = std::size_t{1} << 30;

 private:
  std::uintptr_t begin_ = 0, next_ = 0;
  std::vector<std::unique_ptr<Allocation>> all_; ///< in the order of their addresses
  Allocation* last_ = nullptr;
  int unnamed_ = 0;
};

inline DeviceMemory& device_memory() {
  static auto& memory = *new DeviceMemory;
  return memory;
}

} // namespace tessera::lens
