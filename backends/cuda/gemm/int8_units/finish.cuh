#pragma once

/// The last steps of a product: residues become f64 results, and elements that are not certain are computed strictly.

#include <cuda_runtime_api.h>

#include <tessera/backend/kernel.hpp>

#include "lines.cuh"
#include "results.cuh"

namespace tessera::cuda::int8_units {

/// Stores the elements of C that are certain.
Status combine_residues(cudaStream_t stream, const GemmCall& call, const Lines& a, const Lines& b, int bits,
                        const Results& results);

/// Stores the other elements of C.
Status multiply_uncertain(cudaStream_t stream, const GemmCall& call, const Results& results);

} // namespace tessera::cuda::int8_units
