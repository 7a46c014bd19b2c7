#pragma once

/// Products of emulated_fp16x3 whose large operand is read from where it is (unpacked_product.cuh).

#include <tessera/executor.hpp>

#include "cuda/gemm/common/emulated_fp16x3/plan.hpp"

namespace tessera::cuda::wgmma::unpacked {

/// Runs the product. The copy engine must be able to read the larger operand.
Status run(const char* name, Executor& executor, Queue& queue, const GemmCall& call,
           const fp16x3::UnpackedPlan& plan) noexcept;

} // namespace tessera::cuda::wgmma::unpacked
