#pragma once

/// One element of C from global memory alone, for 01_naive_strided, 02_naive_coalesced, 04_transposed_b and, through
/// flat.cuh, the flat rungs. `Sum` is CanonicalSum or KahanSum.

#include "cuda/gemm/common/canonical.cuh"
#include "cuda/gemm/common/operands.cuh"

namespace tessera::cuda {

/// Computes C(i, j): walks along row i of op(A) and column j of op(B).
template <class Sum, class T>
__device__ void compute_element(const StridedOperands<T>& x, Index i, Index j) {
  const T* a = x.a + i * x.a_row;
  const T* b = x.b + j * x.b_col;
  Sum sum;
  for (Index first = 0; first < x.k; first += canonical_segment) {
    sum.begin(first);
    const int steps = static_cast<int>(x.k - first < canonical_segment ? x.k - first : canonical_segment);
    for (int p = 0; p < steps; ++p, a += x.a_col, b += x.b_row) sum.extend(*a, *b);
  }
  store_result(x.c + i * x.ldc + j, sum.value(), x.alpha, x.beta);
}

} // namespace tessera::cuda
