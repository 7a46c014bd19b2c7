#pragma once

/// The operands of a product as kernels see them, and the operations on single results.

#include <tessera/backend/kernel.hpp>

#include "copies/strided_matrix.hpp"
#include "epilogue.cuh"
#include "scaled_result.hpp"

namespace tessera::cuda {

/// op(A) and op(B) with a stride for each direction, so that a transposed operand differs in its strides alone. C and
/// its scalars are members here, not a ScaledResult, so that the textbook kernels read x.c and x.alpha as the formula
/// does.
template <class T>
struct StridedOperands {
  Index m, n, k;
  const T* a;
  Index a_row, a_col; ///< elements from op(A)(i, p) to (i+1, p) and to (i, p+1)
  const T* b;
  Index b_row, b_col;
  T* c;
  Index ldc;
  T alpha, beta;
  EpilogueStore<T> epilogue; ///< for kernels that apply an epilogue or store another type

  StridedOperands() = default;
  explicit StridedOperands(const GemmCall& call) : StridedOperands(call, ScaledResult<T>::of(call)) {}

 private:
  StridedOperands(const GemmCall& call, const ScaledResult<T>& to)
      : m(call.m),
        n(call.n),
        k(call.k),
        a(static_cast<const T*>(call.a)),
        a_row(call.op_a == Op::None ? call.lda : 1),
        a_col(call.op_a == Op::None ? 1 : call.lda),
        b(static_cast<const T*>(call.b)),
        b_row(call.op_b == Op::None ? call.ldb : 1),
        b_col(call.op_b == Op::None ? 1 : call.ldb),
        c(to.c),
        ldc(to.ldc),
        alpha(to.alpha),
        beta(to.beta),
        epilogue(call) {}
};

/// op(A), of m×k elements, and op(B), of k×n elements, as matrices to read.
template <class T>
__device__ StridedMatrix<T> a_matrix(const StridedOperands<T>& x) {
  return {x.a, x.a_row, x.a_col, x.m, x.k};
}
template <class T>
__device__ StridedMatrix<T> b_matrix(const StridedOperands<T>& x) {
  return {x.b, x.b_row, x.b_col, x.k, x.n};
}

/// Returns x·y + z with one rounding.
__device__ inline float fused(float x, float y, float z) { return __fmaf_rn(x, y, z); }
__device__ inline double fused(double x, double y, double z) { return __fma_rn(x, y, z); }

/// C := alpha·sum + beta·C for one element. If beta is 0, C is not read.
template <class T>
__device__ inline void store_result(T* c, T sum, T alpha, T beta) {
  const T r = alpha * sum;
  *c = beta == T{0} ? r : fused(beta, *c, r);
}
/// C := alpha·sum + beta·C for one element, computed in f32 and rounded once more to C's type. If beta is 0, C is not
/// read.
template <class R>
__device__ inline void store_rounded(R* c, float sum, float alpha, float beta) {
  const float r = alpha * sum;
  *c = Rounding<R>::round(beta == 0 ? r : fused(beta, Rounding<R>::value(*c), r));
}

} // namespace tessera::cuda
