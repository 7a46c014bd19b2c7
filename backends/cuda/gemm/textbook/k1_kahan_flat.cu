/// kahan_flat: naive_flat with compensated summation.
///
/// Each product takes four dependent operations instead of one FMA. A flat kernel waits for memory, so that the
/// compensation is nearly free. One result reads 2·k elements (8·k bytes in f32), as in 03_naive_flat.cu. The error is
/// about 2u·Σ|a·b| for every k, where u is the unit roundoff. The source is the CUDA course.

#include <cmath>

#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/traffic.hpp"
#include "cuda/gemm/textbook/rung.hpp"

namespace tessera::cuda {
namespace {

constexpr int threads = 256;

/// The sum of one result, and its excess: what the last addition rounded away, which the next product makes up for.
/// Inf − Inf would turn an infinite sum into NaN, so that an infinite sum has no excess.
template <class T>
struct KahanSum {
  T value{0};
  T excess{0};

  __device__ void extend(T a, T b) {
    const T term = fused(a, b, -excess);
    const T sum = value + term;
    excess = isfinite(sum) ? (sum - value) - term : T{0};
    value = sum;
  }
};

/// Computes C(i, j) with Kahan's summation: walks along row i of op(A) and down column j of op(B).
template <class T>
__device__ void compute_element(const StridedOperands<T>& x, Index i, Index j) {
  const T* a = x.a + i * x.a_row;
  const T* b = x.b + j * x.b_col;
  KahanSum<T> sum;
  for (Index first = 0; first < x.k; first += canonical_segment) {
    const int steps = static_cast<int>(x.k - first < canonical_segment ? x.k - first : canonical_segment);
    for (int p = 0; p < steps; ++p, a += x.a_col, b += x.b_row) sum.extend(*a, *b);
  }
  T* const c = x.c + i * x.ldc + j;
  const T scaled = x.alpha * sum.value;
  *c = x.beta == T{0} ? scaled : fused(x.beta, *c, scaled);
}

template <class T>
__global__ void kahan_flat(StridedOperands<T> x) {
  const Index element = static_cast<Index>(blockIdx.x) * threads + threadIdx.x;
  const Index i = element / x.n;
  const Index j = element % x.n;
  if (i < x.m) compute_element(x, i, j);
}

template <class T>
void launch(const GemmCall& call, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(ceil_div<Index>(call.m * call.n, threads));
  kahan_flat<<<blocks, threads, 0, stream>>>(StridedOperands<T>(call));
}

template <class T>
constexpr GemmKernel rung{.name = "kahan_flat",
                          .summary = "naive_flat with Kahan's compensated summation",
                          .source = "CUDA course",
                          .type = dtype_of<T>,
                          .math = Math::Compensated,
                          .tile = {1, threads, 1},
                          .run = run_launch<launch<T>>,
                          .traffic = coalesced_traffic};

} // namespace

const GemmKernel kahan_flat_f32 = rung<float>;
const GemmKernel kahan_flat_f64 = rung<double>;

} // namespace tessera::cuda
