#pragma once

/// The parts that the rungs on AMX share: when they reject a call, how they run, how they store f32 results.

#include "amx_product.hpp"

namespace tessera::cpu::amx {

/// Returns why this process may not use AMX for the call, or null.
const char* reject(const GemmKernel&, const GemmCall&, const Capabilities& machine) noexcept;

/// Stores f32 results: applies alpha, beta and the epilogue to the rows×cols sums of C's part from (i, j) on.
void store_f32(const GemmCall& call, Index i, Index j, Index rows, Index cols, const float* sums, Index ld);

/// Computes the call by `method`, or by the kernel `strict` where the tiles cannot hold the operands' numbers.
Status run(Executor& executor, Queue& queue, const GemmCall& call, const Method& method, Store store,
           const GemmKernel& strict) noexcept;

} // namespace tessera::cpu::amx
