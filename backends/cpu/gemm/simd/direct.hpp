#pragma once

/// Products without packing. They suit operands that are read only once or twice, which are small matrices and matrices
/// with a short side: packing would read and write them for little use.

#include "cpu/executor.hpp"
#include "cpu/gemm/common/microkernel.hpp"

namespace tessera::cpu {

/// Computes C := alpha·op(A)·op(B) + beta·C with strict sums. The call was checked. A transposed B is packed
/// first, so that the rows of op(B) can be read in vectors. Returns OutOfMemory where there is no memory for it; C is
/// unchanged then.
template <class T>
Status direct_product(CpuExecutor& cpu, const GemmCall& call, const MicroKernel<T>& kernel) noexcept;

} // namespace tessera::cpu
