#pragma once

/// Rows of cuBLASLt: what the ladder is measured against, run where they are named and never chosen unasked.

#include <tessera/backend/kernel.hpp>

namespace tessera::cuda {

extern const GemmKernel cublas_lt_f32, cublas_lt_f64;
extern const GemmKernel cublas_lt_tf32_f32, cublas_lt_bf16_f32, cublas_lt_fp16_f32;
extern const GemmKernel cublas_lt_bf16, cublas_lt_f16;

} // namespace tessera::cuda
