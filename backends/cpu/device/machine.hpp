#pragma once

/// Describes what the operating system reports about the processor. A value is zero or empty if it is not reported.

#include <cstddef>
#include <string>

namespace tessera::cpu {

struct Machine {
  std::string processor;        ///< the processor's own name
  std::size_t memory_bytes = 0; ///< physical memory
  std::size_t l1_bytes = 0;     ///< data cache of one core
  std::size_t l2_bytes = 0;
  std::size_t l3_bytes = 0; ///< one last-level cache, shared by several cores
};

Machine inspect_machine();

} // namespace tessera::cpu
