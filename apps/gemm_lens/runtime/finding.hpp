#pragma once

/// What is wrong with a kernel, once for each pair of places in the code.

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "../device/include/tessera_lens/vector_types.hpp"
#include "event.hpp"

namespace tessera::lens {

struct Finding {
  std::string kind;
  std::uint32_t pc = 0, other_pc = 0;
  EventKind access = EventKind::Flow;
  bool other_stores = false;
  std::uint64_t times = 1;
  std::string array; ///< "A", or the name of a shared array; empty: memory of nobody
  bool shared = false;
  std::int64_t offset = 0; ///< of the first access, in bytes from the array's beginning
  std::uint64_t array_bytes = 0;
  unsigned size = 0; ///< bytes of the access
  uint3 thread{}, block{}, other_thread{};
  bool other_block = false;
  std::string detail;
};

class Findings {
 public:
  /// Adds a finding, or counts it if there is one of this kind at these places already.
  void add(const Finding& finding);
  const std::vector<Finding>& all() const { return all_; }

 private:
  std::map<std::tuple<std::string, std::uint32_t, std::uint32_t>, std::size_t> known_;
  std::vector<Finding> all_;
};

inline Findings& findings() {
  static auto& all = *new Findings;
  return all;
}

} // namespace tessera::lens
