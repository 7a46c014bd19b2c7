#pragma once

/// Products with few rows and a large B, which is read once, row by row, where it is.

#include "cpu/executor.hpp"
#include "cpu/gemm/common/microkernel.hpp"

namespace tessera::cpu {

/// C := alpha·op(A)·op(B) + beta·C with canonical summation. A transposed B is copied first.
template <class T>
Status few_rows_product(CpuExecutor& cpu, const GemmCall& call, const MicroKernel<T>& kernel) noexcept;

} // namespace tessera::cpu
