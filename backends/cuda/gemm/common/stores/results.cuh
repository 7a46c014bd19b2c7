#pragma once

/// Results from sums and from old results that were read before. Where a thread has several results, it reads all old
/// ones before it uses the first, because it would wait for each read.

#include "cuda/gemm/common/operands.cuh"

namespace tessera::cuda {

/// Returns alpha·sum + beta·old. If beta is 0, `old` is not used.
template <class T>
__device__ inline T strict_result(T sum, T alpha, T beta, const T& old) {
  const T r = alpha * sum;
  return beta == T{0} ? r : fused(beta, old, r);
}
/// Returns alpha·sum + beta·old, computed in f32 and rounded once more to C's type R. If beta is 0, `old` is not used.
template <class R>
__device__ inline R rounded_result(float sum, float alpha, float beta, const R& old) {
  const float r = alpha * sum;
  return Rounding<R>::round(beta == 0 ? r : fused(beta, Rounding<R>::value(old), r));
}

} // namespace tessera::cuda
