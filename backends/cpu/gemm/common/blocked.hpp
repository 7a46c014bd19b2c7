#pragma once

/// The loops around a micro-kernel, those of BLIS: cache_blocked and simd differ in the micro-kernel alone.

#include "cpu/executor.hpp"
#include "microkernel.hpp"

namespace tessera::cpu {

/// C := alpha·op(A)·op(B) + beta·C with canonical summation.
template <class T>
Status blocked_product(CpuExecutor& cpu, const GemmCall& call, const MicroKernel<T>& kernel) noexcept;

} // namespace tessera::cpu
