#pragma once

/// The loops of BLIS around a micro-kernel. cache_blocked and simd_packed share them and differ only in the
/// micro-kernel.

#include "cpu/executor.hpp"
#include "microkernel.hpp"

namespace tessera::cpu {

/// Computes C := alpha·op(A)·op(B) + beta·C with strict sums. The call was checked. Returns OutOfMemory where
/// there is no memory for the packed operands; C is unchanged then.
template <class T>
Status blocked_product(CpuExecutor& cpu, const GemmCall& call, const MicroKernel<T>& kernel) noexcept;

} // namespace tessera::cpu
