#pragma once

/// Products without packing, for operands that are read once or twice only: small matrices, and those with a short
/// side. Packing would read and write them all for little use.

#include "cpu/executor.hpp"
#include "cpu/gemm/common/microkernel.hpp"

namespace tessera::cpu {

/// C := alpha·op(A)·op(B) + beta·C with canonical summation. A transposed B is copied first: its columns are to be read
/// in vectors.
template <class T>
Status direct_product(CpuExecutor& cpu, const GemmCall& call, const MicroKernel<T>& kernel) noexcept;

} // namespace tessera::cpu
