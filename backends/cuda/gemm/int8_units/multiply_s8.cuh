#pragma once

/// Hopper's warpgroup matrix instruction on 8-bit whole numbers: D (64×256, 32-bit, in the registers of 128 threads) +=
/// A (64×32) · B (32×256), both operands along k in shared memory. Source: PTX ISA, "wgmma.mma_async".

#include "cuda/gemm/common/wgmma.cuh"

namespace tessera::cuda::int8_units {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

// These are macros, because the registers and the instruction's name must be spelled out.
#define TESSERA_S8_D8(i)                                                                                \
  "+r"(d[i]), "+r"(d[(i) + 1]), "+r"(d[(i) + 2]), "+r"(d[(i) + 3]), "+r"(d[(i) + 4]), "+r"(d[(i) + 5]), \
      "+r"(d[(i) + 6]), "+r"(d[(i) + 7])
#define TESSERA_S8_D32(i) TESSERA_S8_D8(i), TESSERA_S8_D8((i) + 8), TESSERA_S8_D8((i) + 16), TESSERA_S8_D8((i) + 24)

/// Starts d += A·B, or d := A·B if `accumulate` is 0. Result e of a thread is in row e / 2 % 2 · 8 and column e / 4 · 8
/// + e % 2 from its first one on. The caller must not access d before wait_for_products.
__device__ inline void multiply_s8(int (&d)[128], std::uint64_t a_bits, std::uint64_t b_bits, int accumulate) {
  asm volatile(
      "{ .reg .pred add; setp.ne.b32 add, %130, 0; wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "
      "%24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, "
      "%46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, "
      "%68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, "
      "%90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, "
      "%110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
      "%128, %129, add; }"
      : TESSERA_S8_D32(0), TESSERA_S8_D32(32), TESSERA_S8_D32(64), TESSERA_S8_D32(96)
      : "l"(a_bits), "l"(b_bits), "r"(accumulate));
}

#undef TESSERA_S8_D32
#undef TESSERA_S8_D8

#endif

} // namespace tessera::cuda::int8_units
