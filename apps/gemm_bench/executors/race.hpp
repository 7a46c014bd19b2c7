#pragma once

/// A race of products of host matrices: Tessera on each list of executors, and cuBLASXt on the GPUs of each list of
/// GPUs, take turns at one product. Operands and results are in page-locked memory, as cuBLASXt needs it for its
/// copies, or in ordinary memory, as most programs have them.

#include <map>
#include <string>
#include <vector>

#include <tessera/executor.hpp>

#include "gemm_bench/random_products.hpp"

namespace tessera::bench {

class HostMemory;

struct ExecutorList {
  std::string text;                 ///< as the user wrote it
  std::vector<Executor*> executors; ///< of which Tessera's product is made
  std::vector<int> devices;         ///< the GPUs, where all executors are different GPUs: cuBLASXt takes these
};

/// One peer's samples, or the reason why there are none or why they do not count.
struct HostStanding {
  std::string peer, executors;
  std::vector<double> seconds; ///< of one product, by the host's clock
  std::string check;           ///< what the result was compared with
  std::string problem;
  double copy_bytes_per_second = 0; ///< of a strip of B, from the second executor's memory to the first one's
};

/// How often each peer computes a product: `rounds` times after one that is not counted, or as often as takes `seconds`
/// together. If one product takes longer than that, it is the only one, and counts.
struct Repeats {
  int rounds = 3;
  double seconds = 3;
};

/// What the races of one run share.
struct RaceMemory {
  HostMemory& host;
  std::map<std::string, int> sides; ///< the fastest side of cuBLASXt's blocks in the race before, by type and GPUs
};

/// Times the peers from operands in host memory to the result there. C is NaN before each sample. The first list's
/// result is checked against its bound; the bits of the other lists' results are compared with it; cuBLASXt's results
/// are checked. Throws OutOfMemory.
std::vector<HostStanding> run_host_race(const GemmShape& shape, DType type, const std::vector<ExecutorList>& lists,
                                        const Repeats& repeats, RaceMemory& memory);

/// Times products of matrices that lie in blocks of rows on the executors of a list, and stay there (row_blocks.hpp).
/// Lists do not take turns: the operands of one list at a time are in the GPUs' memories. A list whose GPUs have too
/// little memory has that as its problem.
std::vector<HostStanding> run_resident_race(const GemmShape& shape, DType type, const std::vector<ExecutorList>& lists,
                                            const Repeats& repeats, RaceMemory& memory);

} // namespace tessera::bench
