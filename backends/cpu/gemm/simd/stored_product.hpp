#pragma once

/// simd_packed for operands as they are stored: complex numbers and symmetric matrices, which become strips of real
/// elements where they are packed; and for a triangle of the result. include/tessera/backend/stored_product.hpp has
/// what is computed.

#include <tessera/backend/stored_product.hpp>

#include "cpu/executor.hpp"

namespace tessera::cpu {

/// Returns whether simd_packed computes the product, and no other way is faster.
bool takes_stored_product(const StoredProductCall& call, Isa isa);
/// Computes it. Returns OutOfMemory where there is no memory for the packed operands; C is unchanged then.
Status stored_product(CpuExecutor& cpu, const StoredProductCall& call) noexcept;

} // namespace tessera::cpu
