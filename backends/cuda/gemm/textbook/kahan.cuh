#pragma once

/// Kahan's compensated summation in device code, with the interface of CanonicalSum.
///
/// To first order the error does not grow with k. A product takes four operations, where a plain sum takes one. The
/// source is W. Kahan, "Further remarks on reducing truncation errors", CACM 8 (1965).

#include <cmath>

#include "cuda/gemm/common/operands.cuh"

namespace tessera::cuda {

template <class T>
class KahanSum {
 public:
  __device__ void begin(Index) {}
  __device__ void extend(T a, T b) {
    const T term = fused(a, b, -excess_);
    const T sum = sum_ + term;
    // The excess is what the addition rounded away. Inf − Inf would turn an infinite sum into NaN.
    excess_ = isfinite(sum) ? (sum - sum_) - term : T{0};
    sum_ = sum;
  }
  __device__ T value() const { return sum_; }

 private:
  T sum_{0};
  T excess_{0};
};

} // namespace tessera::cuda
