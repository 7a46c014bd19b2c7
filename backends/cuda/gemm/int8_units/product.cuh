#pragma once

/// The products of planes of 8-bit whole numbers, by Hopper's matrix units: exact sums, of which a byte is kept.

#include <cuda_runtime_api.h>

#include <tessera/status.hpp>

#include "lines.cuh"
#include "results.cuh"

namespace tessera::cuda::int8_units {

constexpr int cluster = 2; ///< blocks that share a panel of op(B); the panels of op(A) are as many

/// Sums of products of 8 bits fit 32 bits for this many blocks of k. For residues, the products are 2¹⁴ at most.
constexpr Index segment_blocks = (1 << 17) / block_k - 1;

/// Multiplies all planes of two operands. `clusters` run at once.
Status multiply_planes(cudaStream_t stream, const Lines& a, const Lines& b, int bits, const Results& results,
                       Index clusters);

} // namespace tessera::cuda::int8_units
