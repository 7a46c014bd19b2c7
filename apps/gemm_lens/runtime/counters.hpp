#pragma once

/// What is counted of a launch, by the place in the code and the array.

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "event.hpp"
#include "request.hpp"
#include "thread.hpp"

namespace tessera::lens {

/// The accesses by one instruction to one array.
struct Site {
  std::uint32_t pc = 0;
  EventKind kind = EventKind::Load;
  bool shared = false;
  std::string array;
  std::uint64_t requests = 0, sectors = 0, wavefronts = 0, lanes = 0, bytes_asked = 0;
  Banks words{};   ///< words that each bank delivered, of shared memory
  Request dearest; ///< the first request that took the most sectors or wavefronts
  int dearest_cost = 0;
  std::uint64_t dearest_base = 0; ///< where its array begins
};

struct Launch {
  std::string name;
  int line = 0;
  std::uint32_t function_pc = 0; ///< in the kernel, where it has no name here
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  std::uint64_t times = 1;    ///< launches that are counted together
  std::uint64_t barriers = 0; ///< that blocks have passed
  std::uint64_t divergent_branches = 0;
  std::map<std::uint32_t, std::uint64_t> divergent_at; ///< by place
  std::vector<Site> sites;
  std::unordered_map<std::uint64_t, std::size_t> number_of; ///< of a site, by place, kind and array

  Site& site(std::uint32_t pc, EventKind kind, bool shared, const void* array, const std::string& name);
};

/// The launches so far; counting goes into the last one.
inline std::vector<Launch>& launches() {
  static auto& all = *new std::vector<Launch>;
  return all;
}

/// Counts a request of the warp whose first thread is `threads`, and looks for faults.
void count_request(Launch& launch, EventKind kind, std::uint32_t pc, const Request& request, const Thread* threads);

} // namespace tessera::lens
