#pragma once

/// Measures what the device can do at most: it keeps the arithmetic units busy from registers, reads the L2 cache and
/// copies memory.

#include <cuda_runtime_api.h>

#include <cstddef>

#include <tessera/backend/kernel.hpp>

namespace tessera {
struct Ceilings;
}

namespace tessera::cuda {

/// Measures the ceilings of products of `type` in mode `math`. The arithmetic units are
/// - in strict f32: the FMA units;
/// - in strict f64: the FMA units or the matrix units, whichever are faster, because both round each step;
/// - in Tf32, Bf16 and Fp16: the matrix units;
/// - in an emulated mode: the matrix units, with the type that the operands are split into.
Status measure_ceilings(Executor& executor, Queue& queue, DType type, Math math, Ceilings& ceilings) noexcept;

/// A kernel that keeps the arithmetic units busy and needs no memory.
struct Probe {
  /// Enqueues `blocks` blocks that do `rounds` rounds each. They write 1 to `ran` if the code that the device runs has
  /// the instruction.
  Status (*launch)(int blocks, int rounds, int* ran, cudaStream_t stream) noexcept;
  double flops_per_block_round;
  int blocks_per_multiprocessor;
};

extern const Probe fma_f32_probe, fma_f64_probe;
extern const Probe mma_tf32_probe, mma_bf16_probe, mma_fp16_probe, mma_f64_probe;
extern const Probe wgmma_tf32_probe, wgmma_bf16_probe, wgmma_fp16_probe;

/// Enqueues a kernel that reads the buffer `data` from the L2 cache: each block reads l2_bytes_per_block_round() bytes
/// in each of `rounds` rounds. The kernel writes 1 to `ran` if it has read a byte that is not 0. Precondition: `bytes`
/// is a multiple of 16 and less than 32 GiB.
Status read_l2(const void* data, std::size_t bytes, int blocks, int rounds, int* ran, cudaStream_t stream) noexcept;
double l2_bytes_per_block_round() noexcept;

} // namespace tessera::cuda
