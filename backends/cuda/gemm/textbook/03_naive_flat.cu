/// naive_flat: the grid is one-dimensional, in blocks of 256 threads, and each thread finds its row and column by a
/// division.
///
/// Reads are coalesced as in 02_naive_coalesced.cu. But a block covers 256 columns of a single row of C, so that an
/// element of B which it reads serves one result, whereas a block of 8×32 threads reads each element of B eight times
/// from L1. One result costs 2·k operations and reads 2·k elements (8·k bytes in f32). The source is the CUDA course.

#include "cuda/gemm/common/canonical.cuh"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/traffic.hpp"
#include "cuda/gemm/textbook/rung.hpp"

namespace tessera::cuda {
namespace {

constexpr int threads = 256;

/// Computes C(i, j): walks along row i of op(A) and down column j of op(B).
template <class T>
__device__ void compute_element(const StridedOperands<T>& x, Index i, Index j) {
  const T* a = x.a + i * x.a_row;
  const T* b = x.b + j * x.b_col;
  CanonicalSum<T> sum;
  for (Index first = 0; first < x.k; first += canonical_segment) {
    sum.begin(first);
    const int steps = static_cast<int>(x.k - first < canonical_segment ? x.k - first : canonical_segment);
    for (int p = 0; p < steps; ++p, a += x.a_col, b += x.b_row) sum.chain = fused(*a, *b, sum.chain);
  }
  T* const c = x.c + i * x.ldc + j;
  const T scaled = x.alpha * sum.value();
  *c = x.beta == T{0} ? scaled : fused(x.beta, *c, scaled);
}

template <class T>
__global__ void naive_flat(StridedOperands<T> x) {
  const Index element = static_cast<Index>(blockIdx.x) * threads + threadIdx.x;
  const Index i = element / x.n;
  const Index j = element % x.n;
  if (i < x.m) compute_element(x, i, j);
}

template <class T>
void launch(const GemmCall& call, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(ceil_div<Index>(call.m * call.n, threads));
  naive_flat<<<blocks, threads, 0, stream>>>(StridedOperands<T>(call));
}

template <class T>
constexpr GemmKernel rung{.name = "naive_flat",
                          .summary = "one-dimensional grid, row and column by division",
                          .source = "CUDA course",
                          .type = dtype_of<T>,
                          .tile = {1, threads, 1},
                          .summation = Summation::Canonical,
                          .run = run_launch<launch<T>>,
                          .traffic = coalesced_traffic};

} // namespace

const GemmKernel naive_flat_f32 = rung<float>;
const GemmKernel naive_flat_f64 = rung<double>;

} // namespace tessera::cuda
