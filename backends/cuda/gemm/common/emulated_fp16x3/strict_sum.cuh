#pragma once

/// The strict sums of rows and columns that cannot be split, for kernels that notice them while they multiply.

#include "cuda/gemm/common/canonical.cuh"
#include "cuda/gemm/common/operands.cuh"

namespace tessera::cuda::wgmma {

constexpr unsigned unfit_sum = 0x7FC0ABCD; ///< a NaN that no instruction makes: a sum that is to be the strict one

__device__ inline bool is_unfit(float sum) { return __float_as_uint(sum) == unfit_sum; }

/// Returns the strict sum of C(row, column).
__device__ __noinline__ inline float strict_sum(const StridedOperands<float>& x, Index row, Index column) {
  CanonicalSum<float> sum;
  for (Index p = 0; p < x.k; ++p) {
    sum.begin(p);
    sum.chain = fused(x.a[row * x.a_row + p * x.a_col], x.b[p * x.b_row + column * x.b_col], sum.chain);
  }
  return sum.value();
}

} // namespace tessera::cuda::wgmma
