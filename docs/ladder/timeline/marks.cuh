#pragma once

/// The marks of an instrumented kernel. instrument.py puts them into a copy of the source; the shipped kernel has none.
///
/// In one block, TESSERA_TIMELINE_BLOCK, lane 0 of a warp notes the cycle in which a phase begins. A phase ends where
/// the next one begins, and a mark of the phase that the warp is in already does nothing. The lane's condition is a
/// branch, so that ptxas cannot move arithmetic across a mark. How many events a warp has is kept in shared memory,
/// because registers are few in these kernels; the store to global memory is not waited for.
///
/// Sources: PTX ISA, "%clock64" and "%globaltimer".

#include <cuda_runtime.h>

#include "timeline/record.hpp"

namespace tessera::timeline {

static __device__ BlockRecord record; // of this file's kernels

__device__ inline std::uint64_t cycles_now() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
  return now;
}
__device__ inline std::uint64_t ns_now() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
}

__device__ inline bool block_is_recorded() { return blockIdx.x == TESSERA_TIMELINE_BLOCK; }

/// The state of this thread's warp: its events up to now, times `phases`, plus its phase.
__device__ inline volatile unsigned& state_of_warp() {
  __shared__ unsigned states[most_warps];
  return states[threadIdx.x / 32];
}

/// Notes that a phase begins. One thread of the warp calls it.
__device__ inline void note(Phase phase) {
  volatile unsigned& state = state_of_warp();
  const unsigned before = state, count = before / phases, now = static_cast<unsigned>(phase);
  if (count > 0 && before % phases == now) return;
  if (count < most_events) record.warps[threadIdx.x / 32].events[count] = cycles_now() * phases + now;
  state = (count + 1) * phases + now;
}

/// The warp begins a phase. All its lanes are here.
__device__ inline void mark(Phase phase) {
  if (block_is_recorded() && threadIdx.x % 32 == 0) note(phase);
}
/// The warp begins a phase, and this thread is its only one that works.
__device__ inline void mark_alone(Phase phase) {
  if (block_is_recorded()) note(phase);
}

/// The warp begins the kernel. All its lanes are here.
__device__ inline void begin() {
  if (block_is_recorded() && threadIdx.x % 32 == 0) {
    WarpRecord& warp = record.warps[threadIdx.x / 32];
    state_of_warp() = 0;
    warp.begin_ns = ns_now();
    warp.begin_cycles = cycles_now();
  }
  __syncwarp();
}
/// The warp has done its part. All its lanes come here.
__device__ inline void end() {
  __syncwarp();
  if (block_is_recorded() && threadIdx.x % 32 == 0) {
    WarpRecord& warp = record.warps[threadIdx.x / 32];
    warp.end_cycles = cycles_now();
    warp.end_ns = ns_now();
    warp.count = state_of_warp() / phases;
  }
}

/// Copies to the host what was recorded since the last call, and clears it. Returns a status of the CUDA runtime.
inline int take(BlockRecord& to) {
  static const BlockRecord cleared{};
  if (const cudaError_t status = cudaDeviceSynchronize(); status != cudaSuccess) return status;
  if (const cudaError_t status = cudaMemcpyFromSymbol(&to, record, sizeof to); status != cudaSuccess) return status;
  return cudaMemcpyToSymbol(record, &cleared, sizeof cleared);
}

} // namespace tessera::timeline

/// Exports take() for the kernel that this file has.
#define TESSERA_TIMELINE_EXPORT(kernel)                                                                               \
  extern "C"                                                                                                          \
      __attribute__((visibility("default"))) int tessera_timeline_take_##kernel(tessera::timeline::BlockRecord* to) { \
    return tessera::timeline::take(*to);                                                                              \
  }
