#pragma once

/// What the device can do at most: its arithmetic units kept busy from registers, its L2 cache read, its memory copied.

#include <cuda_runtime_api.h>

#include <cstddef>

#include <tessera/backend/kernel.hpp>

namespace tessera {
struct Ceilings;
}

namespace tessera::cuda {

/// f32 strict: the FMA units. f64 strict: the FMA or the matrix units, whichever are faster, for both round each step.
/// Tf32, Bf16, Fp16: the matrix units; the emulated modes: the same for the type of their parts.
Status measure_ceilings(Executor& executor, Queue& queue, DType type, Math math, Ceilings& ceilings) noexcept;

/// Work for the arithmetic units that needs no memory.
struct Probe {
  /// Enqueues `rounds` of it in `blocks` blocks. Writes 1 to `ran` if this device's code has the instruction.
  Status (*launch)(int blocks, int rounds, int* ran, cudaStream_t stream) noexcept;
  double flops_per_block_round;
  int blocks_per_multiprocessor;
};

extern const Probe fma_f32_probe, fma_f64_probe;
extern const Probe mma_tf32_probe, mma_bf16_probe, mma_fp16_probe, mma_f64_probe;
extern const Probe wgmma_tf32_probe, wgmma_bf16_probe, wgmma_fp16_probe;

/// Enqueues reading a buffer of less than 32 GiB, a multiple of 16 bytes, from the L2 cache: each of `rounds` of each
/// block reads so many bytes. Writes 1 to `ran` if any byte of the buffer is not 0.
Status read_l2(const void* data, std::size_t bytes, int blocks, int rounds, int* ran, cudaStream_t stream) noexcept;
double l2_bytes_per_block_round() noexcept;

} // namespace tessera::cuda
