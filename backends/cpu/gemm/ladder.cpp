#include "ladder.hpp"

#include <memory>
#include <vector>

#include "cpu/gemm/cblas/cblas.hpp"

namespace tessera::cpu {

std::span<const GemmKernel> gemm_ladder(Backend backend) {
  static const auto* kernels = [backend] {
    auto all = std::make_unique<std::vector<GemmKernel>>(std::initializer_list<GemmKernel>{
        simd_f32,          simd_f64,          //
        simd_packed_f32,   simd_packed_f64,   //
        simd_panel_f32,    simd_panel_f64,    //
        simd_direct_f32,   simd_direct_f64,   //
        cache_blocked_f32, cache_blocked_f64, //
        tiled_4x4_f32,     tiled_4x4_f64,     //
        double_packed_f32, double_packed_f64, //
        single_packed_f32, single_packed_f64, //
        transposed_f32,    transposed_f64,    //
        naive_f32,         naive_f64,         //
        widened_f16,       widened_bf16,      //
        kahan_f32,         kahan_f64,         //
        strassen_f32,      strassen_f64,
    });
    for (const GemmKernel& kernel : schedule_rows(backend)) all->push_back(kernel);
#if defined(TESSERA_HAS_AMX_CODE)
    all->push_back(amx_bf16_f32);
    all->push_back(amx_bf16_bf16);
    all->push_back(amx_bf16x6_f32);
#endif
    for (const GemmKernel& kernel :
         {hopper_units_tf32, hopper_units_f16, hopper_units_bf16, hopper_units_f32_as_bf16, hopper_units_f32_as_f16,
          hopper_units_fp16x3, hopper_units_bf16x6, hopper_units_scaled_fp16, int8_units_f64})
      all->push_back(kernel);
    for (const GemmKernel& kernel : cblas_rows()) all->push_back(kernel);
    return all.release(); // lives as long as the process: executors and programs keep kernels
  }();
  return *kernels;
}

} // namespace tessera::cpu
