#pragma once

/// Requests to the L2 cache. A kernel asks for the part of C that beta needs before it begins to multiply, so that
/// memory answers while the products run. Source: PTX ISA, "cp.async.bulk.prefetch".

#include <cstdint>

#include <tessera/types.hpp>

namespace tessera::cuda {

/// Asks the L2 cache for `bytes` bytes of each of `rows` lines, which begin at `first` and lie `pitch` bytes apart.
/// Thread number `thread` of `threads` asks for each `threads`-th line. It asks for whole vectors of 16 bytes alone, so
/// that no request leaves a line, and for nothing where `rows` or `bytes` is not positive, as for a part of a tile that
/// lies outside C. Before compute capability 9.0 it does nothing. Nothing has to wait for an earlier
/// kernel first, because what that one stores goes to the same cache.
__device__ inline void prefetch_lines(const void* first, Index pitch, int rows, int bytes, int thread, int threads) {
#if __CUDA_ARCH__ >= 900
  if (bytes <= 0) return;
  for (int row = thread; row < rows; row += threads) {
    const auto line = reinterpret_cast<std::uintptr_t>(static_cast<const char*>(first) + row * pitch);
    const std::uintptr_t begin = (line + 15) / 16 * 16, end = (line + static_cast<unsigned>(bytes)) / 16 * 16;
    if (begin < end)
      asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(
                       __cvta_generic_to_global(reinterpret_cast<const void*>(begin))),
                   "r"(static_cast<unsigned>(end - begin))
                   : "memory");
  }
#endif
}

} // namespace tessera::cuda
