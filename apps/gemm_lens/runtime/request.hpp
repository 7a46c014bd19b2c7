#pragma once

/// A request of a warp is one instruction's access by all threads of the warp that take part. The functions say which
/// pieces of memory the hardware moves for it.

#include <array>
#include <cstdint>

namespace tessera::lens {

struct Request {
  std::uint32_t lanes = 0; ///< that take part, a bit for each
  unsigned size = 0;       ///< bytes of each lane
  std::array<std::uint64_t, 32> address{};
};

/// Up to 64 sectors of 32 bytes.
struct Sectors {
  int count = 0;
  std::array<std::uint64_t, 64> number;
};

/// Returns the sectors of global memory that the request touches, each once. They are what moves between the caches,
/// and what ncu counts as l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum, or _st.
Sectors sectors_of(const Request& request);

/// Counts the words that each of the 32 banks of shared memory has to deliver.
using Banks = std::array<std::uint32_t, 32>;

/// Returns the wavefronts that a request of shared memory takes, and adds to `words` the words that each bank delivers
/// for it. `base` is the address of the first bank.
///
/// A wavefront delivers one word of 4 bytes from each bank, to any number of lanes. Lanes of up to 4 bytes are served
/// together; lanes of 8 bytes in two halves of the warp, and lanes of 16 bytes in four quarters. If all lanes agree
/// with their neighbours n ^ 1, or all with n ^ 2, two such parts are served together. Sources: CUDA C++ Programming
/// Guide, "Shared Memory" of compute capability 5.x and later; for the last rule an answer of NVIDIA's in its forum
/// ("Unexpected shared memory bank conflict", 2019).
int wavefronts_of(const Request& request, std::uint64_t base, Banks& words);

} // namespace tessera::lens
