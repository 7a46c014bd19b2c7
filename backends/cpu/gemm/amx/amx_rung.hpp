#pragma once

/// What the rungs on AMX have in common.

#include "amx_product.hpp"

namespace tessera::cpu::amx {

const char* reject(const GemmKernel&, const GemmCall&, const Capabilities& machine) noexcept;

/// f32 results.
void store_f32(const GemmCall& call, Index i, Index j, Index rows, Index cols, const float* sums, Index ld);

/// By `method`, or by `strict` where the tiles do not have what the operands hold.
Status run(Executor& executor, Queue& queue, const GemmCall& call, const Method& method, Store store,
           const GemmKernel& strict) noexcept;

} // namespace tessera::cpu::amx
