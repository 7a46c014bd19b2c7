#pragma once

/// The reference ladder, best kernel first. A rung's file has the name of its kernel.

#include <span>

#include <tessera/backend/kernel.hpp>

namespace tessera::reference {

extern const GemmKernel canonical_f32, canonical_f64, canonical_f16, canonical_bf16;
extern const GemmKernel gold_f32, gold_f64, gold_f16, gold_bf16;
extern const GemmKernel hopper_units_tf32, hopper_units_f16, hopper_units_bf16;
extern const GemmKernel hopper_units_f32_as_bf16, hopper_units_f32_as_f16, hopper_units_fp16x3, hopper_units_bf16x6;
extern const GemmKernel hopper_units_scaled_fp16;
extern const GemmKernel int8_units_f64;

std::span<const GemmKernel> gemm_ladder();

} // namespace tessera::reference
