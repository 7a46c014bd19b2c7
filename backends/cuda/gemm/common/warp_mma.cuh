#pragma once

/// The matrix instruction of a warp, of 16 rows and 8 columns: D += A·B in f32. Source: PTX ISA, "Warp-level matrix
/// instructions", mma.m16n8k16 for 16-bit operands and mma.m16n8k8 for tf32.
///
/// With g = lane / 4 and t = lane % 4, a lane has the rows g (a0, a2) and g + 8 (a1, a3) of A, the column g of B, and
/// the columns 2·t and 2·t + 1 of D. Each register of an operand holds 32 bits along k: the elements that belong to t
/// in the first half of k (a0, a1, b0) and in the second half (a2, a3, b1).

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace tessera::cuda {

#if __CUDA_ARCH__ >= 800

#define TESSERA_MMA(shape)                                                                         \
  asm("mma.sync.aligned." shape " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                             \
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1))

/// D += A·B. T is the operands' type; float stands for tf32.
template <class T>
__device__ void multiply_in_warp(float (&d)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0,
                                 unsigned b1);
template <>
__device__ inline void multiply_in_warp<__nv_bfloat16>(float (&d)[4], unsigned a0, unsigned a1, unsigned a2,
                                                       unsigned a3, unsigned b0, unsigned b1) {
  TESSERA_MMA("m16n8k16.row.col.f32.bf16.bf16.f32");
}
template <>
__device__ inline void multiply_in_warp<__half>(float (&d)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3,
                                                unsigned b0, unsigned b1) {
  TESSERA_MMA("m16n8k16.row.col.f32.f16.f16.f32");
}
template <>
__device__ inline void multiply_in_warp<float>(float (&d)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3,
                                               unsigned b0, unsigned b1) {
  TESSERA_MMA("m16n8k8.row.col.f32.tf32.tf32.f32");
}
#undef TESSERA_MMA

/// Reads four matrices of 8 lines of 16 bytes from shared memory into the places of an operand's registers; lane l has
/// the address of line l % 8 of matrix l / 8. Elements of 16 bits may be transposed on the way. Source: PTX ISA,
/// "ldmatrix".
template <bool transposed>
__device__ void read_matrices(unsigned at, unsigned (&to)[4]) {
  if constexpr (transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(at));
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(at));
}

#endif

} // namespace tessera::cuda
