#pragma once

/// Where the core leaves a product that a device's memory does not hold. src/extensions/beyond_memory multiplies it in
/// parts; a build without extensions rejects it.

#include <span>

#include <tessera/detail/storage.hpp>
#include <tessera/epilogue.hpp>
#include <tessera/gemm.hpp>

namespace tessera::detail {

/// Computes C := epilogue(alpha·op(A)·op(B) + beta·C) for operands that were checked and an untransposed C. They are
/// read from host memory, parts of them go through the executors' memory, and C is in host memory afterwards.
void gemm_beyond_memory(std::span<Executor* const> executors, double alpha, const Operand& a, const Operand& b,
                        double beta, const Operand& c, const GemmOptions& options, const EpilogueOperands& epilogue);

} // namespace tessera::detail
