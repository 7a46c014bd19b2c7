#pragma once

/// The CPU ladder, best kernel first; the kernels of other math modes follow. A rung's file has the name of its kernel.

#include <span>

#include <tessera/backend/kernel.hpp>

namespace tessera::cpu {

extern const GemmKernel simd_f32, simd_f64;
extern const GemmKernel simd_packed_f32, simd_packed_f64;
extern const GemmKernel simd_panel_f32, simd_panel_f64;
extern const GemmKernel simd_direct_f32, simd_direct_f64;
extern const GemmKernel cache_blocked_f32, cache_blocked_f64;
extern const GemmKernel tiled_4x4_f32, tiled_4x4_f64;
extern const GemmKernel double_packed_f32, double_packed_f64;
extern const GemmKernel single_packed_f32, single_packed_f64;
extern const GemmKernel transposed_f32, transposed_f64;
extern const GemmKernel naive_f32, naive_f64;
extern const GemmKernel widened_f16, widened_bf16;
extern const GemmKernel kahan_f32, kahan_f64;
extern const GemmKernel strassen_f32, strassen_f64;
extern const GemmKernel hopper_units_tf32, hopper_units_f16, hopper_units_bf16;
extern const GemmKernel hopper_units_f32_as_bf16, hopper_units_f32_as_f16, hopper_units_fp16x3, hopper_units_bf16x6;
extern const GemmKernel hopper_units_scaled_fp16;
extern const GemmKernel int8_units_f64;
extern const GemmKernel amx_bf16_f32, amx_bf16_bf16; ///< on x86-64 only
extern const GemmKernel amx_bf16x6_f32;              ///< on x86-64 only

/// Returns naive with each schedule of the backend's runtime.
std::span<const GemmKernel> schedule_rows(Backend backend);

/// Returns all kernels of the plug-in of this backend, in the order of preference. The first call makes the list, and
/// all calls in one plug-in name the same backend; throws std::bad_alloc.
std::span<const GemmKernel> gemm_ladder(Backend backend);

} // namespace tessera::cpu
