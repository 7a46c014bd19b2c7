#pragma once

/// The strict product as a fallback, for kernels that find out on the device that they cannot keep their promise for
/// some rows and columns of C.

#include <tessera/backend/kernel.hpp>

#include "cuda/gemm/common/unfit_lines.cuh"

namespace tessera::cuda {

/// Enqueues the strict f32 product of the results in marked rows and columns, without a wait on the host. If no line is
/// marked when the kernel starts, it does nothing.
Status run_strict_for(const UnfitLines& lines, Queue& queue, const GemmCall& call) noexcept;

} // namespace tessera::cuda
