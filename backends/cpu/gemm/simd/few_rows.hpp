#pragma once

/// Products with few rows of C and a large B, which is read once, row by row, where it is.

#include "cpu/executor.hpp"
#include "cpu/gemm/common/microkernel.hpp"

namespace tessera::cpu {

/// Computes C := alpha·op(A)·op(B) + beta·C with strict sums. The call was checked. A transposed B is copied
/// first. Returns OutOfMemory where there is no memory for packed operands; C is unchanged then.
template <class T>
Status few_rows_product(CpuExecutor& cpu, const GemmCall& call, const MicroKernel<T>& kernel) noexcept;

} // namespace tessera::cpu
