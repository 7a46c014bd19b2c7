/// naive_coalesced: each thread computes one element of C, and threadIdx.x counts columns of C.
///
/// In each step of k a warp reads one element of A, which is broadcast to its 32 threads, and 32 neighbouring elements
/// of B: two transactions serve 32 FMAs. One result costs 2·k operations and reads 2·k elements (8·k bytes in f32),
/// because no thread keeps anything for another result; most reads come from the caches if the caches are large enough.
/// The sources are the CUDA matmul blog and every other source that this folder names.

#include "cuda/gemm/common/canonical.cuh"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/traffic.hpp"
#include "cuda/gemm/textbook/rung.hpp"

namespace tessera::cuda {
namespace {

constexpr int tile_m = 8;
constexpr int tile_n = 32;

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
__global__ void naive_coalesced(StridedOperands<T> x) {
  const TileOrigin origin = tile_origin(x, tile_m, tile_n);
  const Index i = origin.row + threadIdx.y;
  const Index j = origin.col + threadIdx.x;
  if (i < x.m && j < x.n) compute_element(x, i, j);
}

template <class T>
void launch(const GemmCall& call, cudaStream_t stream) {
  const dim3 threads(tile_n, tile_m);
  naive_coalesced<<<tile_count(call, tile_m, tile_n), threads, 0, stream>>>(StridedOperands<T>(call));
}

template <class T>
constexpr GemmKernel rung{.name = "naive_coalesced",
                          .summary = "a thread an element, neighbours in a warp read neighbours of B",
                          .source = "CUDA matmul blog; SGEMM repository; course report; kernel walkthrough",
                          .type = dtype_of<T>,
                          .tile = {tile_m, tile_n, 1},
                          .summation = Summation::Canonical,
                          .run = run_launch<launch<T>>,
                          .traffic = coalesced_traffic};

} // namespace

const GemmKernel naive_coalesced_f32 = rung<float>;
const GemmKernel naive_coalesced_f64 = rung<double>;

} // namespace tessera::cuda
