#pragma once

/// Products of emulated_fp16x3 and scaled_fp16 whose large operand is read from where it is (unpacked_product.cuh).

#include <tessera/executor.hpp>

#include "cuda/gemm/common/emulated_fp16x3/plan.hpp"

namespace tessera::cuda::wgmma::unpacked {

/// Runs the product, whose elements have `terms` terms: one or two. The copy engine must be able to read the larger
/// operand. unpacked.cu and unpacked_one_term.cu define it.
template <int terms>
Status run(const char* name, Executor& executor, Queue& queue, const GemmCall& call,
           const fp16x3::UnpackedPlan& plan) noexcept;

} // namespace tessera::cuda::wgmma::unpacked
