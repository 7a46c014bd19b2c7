#pragma once

/// The loops of BLIS around a micro-kernel, for simd_packed. textbook/06_cache_blocked.cpp has them in their plain
/// form.

#include "cpu/executor.hpp"
#include "microkernel.hpp"

namespace tessera::cpu {

/// Computes C := alpha·op(A)·op(B) + beta·C with strict sums. The call was checked. Returns OutOfMemory where
/// there is no memory for the packed operands; C is unchanged then.
template <class T>
Status blocked_product(CpuExecutor& cpu, const GemmCall& call, const MicroKernel<T>& kernel) noexcept;

} // namespace tessera::cpu
