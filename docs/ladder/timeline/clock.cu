/// Measures how long a cycle of a multiprocessor is. The global timer advances in steps, which may be as long as a
/// block of a short product. So it is read where it advances, and there again after some milliseconds.

#include <cuda_runtime.h>

#include "timeline/record.hpp"

namespace tessera::timeline {
namespace {

constexpr std::uint64_t long_enough = 5'000'000; ///< nanoseconds

struct Instant {
  std::uint64_t ns, cycles;
};

/// Returns the next instant at which the timer advances.
__device__ Instant next_step() {
  std::uint64_t before, ns, cycles;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(before)::"memory");
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
  } while (ns == before);
  return {ns, cycles};
}

__global__ void measure_clock(ClockRate* rate) {
  const Instant first = next_step();
  std::uint64_t tick = ~std::uint64_t{0};
  Instant last = first;
  while (last.ns - first.ns < long_enough) {
    const Instant now = next_step();
    tick = min(tick, now.ns - last.ns);
    last = now;
  }
  *rate = {static_cast<double>(last.ns - first.ns) / static_cast<double>(last.cycles - first.cycles),
           static_cast<double>(tick)};
}

} // namespace
} // namespace tessera::timeline

/// Sets `rate`. Returns a status of the CUDA runtime.
extern "C" __attribute__((visibility("default"))) int tessera_timeline_clock(tessera::timeline::ClockRate* rate) {
  tessera::timeline::ClockRate* on_device = nullptr;
  if (const cudaError_t status = cudaMalloc(&on_device, sizeof *rate); status != cudaSuccess) return status;
  tessera::timeline::measure_clock<<<1, 1>>>(on_device);
  const cudaError_t status = cudaMemcpy(rate, on_device, sizeof *rate, cudaMemcpyDefault);
  const cudaError_t freed = cudaFree(on_device);
  return status != cudaSuccess ? status : freed;
}
