/// Reads the L2 cache and bypasses the L1 caches, which together may hold as much. A thread's load brings 16 bytes,
/// eight loads are in flight, and another warp reads a warp's lines the next time.

#include "ceilings.hpp"
#include "cuda/device/status.hpp"

namespace tessera::cuda {
namespace {

constexpr int threads = 256;
constexpr int loads = 8; // Loads of a thread in flight.

__device__ uint4 read_from_l2(const uint4* address) {
  uint4 value;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(address));
  return value;
}

/// Each thread reads the buffer again and again, with the number of all threads as its stride.
__global__ void __launch_bounds__(threads, 4) read_round(const uint4* data, unsigned vectors, int rounds, int* ran) {
  const unsigned stride = gridDim.x * threads % vectors;
  unsigned at = (blockIdx.x * threads + threadIdx.x) % vectors;
  unsigned all = 0;
  for (int round = 0; round < rounds; ++round) {
    uint4 part[loads];
#pragma unroll
    for (int i = 0; i < loads; ++i) {
      part[i] = read_from_l2(data + at);
      at += stride;
      if (at >= vectors) at -= vectors;
    }
#pragma unroll
    for (int i = 0; i < loads; ++i) all |= part[i].x | part[i].y | part[i].z | part[i].w;
  }
  if (all != 0) *ran = 1; // All loads must have arrived to know this.
}

} // namespace

Status read_l2(const void* data, std::size_t bytes, int blocks, int rounds, int* ran, cudaStream_t stream) noexcept {
  read_round<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(
      static_cast<const uint4*>(data), static_cast<unsigned>(bytes / sizeof(uint4)), rounds, ran);
  return launched("L2 probe");
}

double l2_bytes_per_block_round() noexcept { return static_cast<double>(threads) * loads * sizeof(uint4); }

} // namespace tessera::cuda
