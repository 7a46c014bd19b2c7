#pragma once

/// A race of products of host matrices: Tessera on each list of executors, and cuBLASXt on the cards of each list of
/// cards, take turns at one product. Operands and results are in pinned memory, as cuBLASXt needs it for its copies.

#include <string>
#include <vector>

#include <tessera/executor.hpp>

#include "gemm_bench/random_products.hpp"

namespace tessera::bench {

struct ExecutorList {
  std::string text;                 ///< as the user wrote it
  std::vector<Executor*> executors; ///< of which Tessera's product is made
  std::vector<int> devices;         ///< the cards, where all executors are cards: cuBLASXt takes the same ones
};

/// One peer's samples, or the reason why there are none or why they do not count.
struct HostStanding {
  std::string peer, executors;
  std::vector<double> seconds; ///< from operands in host memory to the result there
  std::string check;           ///< what the result was compared with
  std::string problem;
};

/// Takes `rounds` samples of each peer after one that is not counted. C is NaN before each sample. The first list's
/// result is checked against its bound; the bits of the other lists' results are compared with it; cuBLASXt's results
/// are checked. Throws OutOfMemory.
std::vector<HostStanding> run_host_race(const Shape& shape, DType type, const std::vector<ExecutorList>& lists,
                                        int rounds);

} // namespace tessera::bench
