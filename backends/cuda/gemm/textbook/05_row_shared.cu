/// row_shared: each block computes one row of C and keeps the row of A that it needs in dynamic shared memory.
///
/// A is read from global memory once; every thread then reads it from shared memory, as broadcasts. B is read by
/// coalesced loads, m times in all, and nothing reduces these reads. One result costs 2·k operations, k elements of B
/// from global memory (4·k bytes in f32) and k elements of A from shared memory. A row over 48 KiB comes in chunks. The
/// source is the CUDA course.

#include "cuda/gemm/common/canonical.cuh"
#include "cuda/gemm/common/ceil_div.hpp"
#include "cuda/gemm/common/traffic.hpp"
#include "cuda/gemm/textbook/rung.hpp"

namespace tessera::cuda {
namespace {

constexpr int threads = 256;
/// Elements of a row that fit into shared memory at once: whole segments, in the 48 KiB that need no opt-in.
template <class T>
constexpr Index most = 48 * 1024 / static_cast<Index>(sizeof(T)) / canonical_segment* canonical_segment;

/// `chunk` elements of a row of op(A) are in shared memory at once: all k, or a multiple of canonical_segment.
template <class T>
__global__ void __launch_bounds__(threads) row_shared(StridedOperands<T> x, int chunk) {
  extern __shared__ double storage[]; // aligned for float and double
  T* const row = reinterpret_cast<T*>(storage);
  for (Index i = blockIdx.x; i < x.m; i += gridDim.x) {
    for (Index left = 0; left < x.n; left += threads) {
      const Index j = left + threadIdx.x;
      CanonicalSum<T> sum;
      for (Index first = 0; first < x.k; first += chunk) {
        const int length = static_cast<int>(x.k - first < chunk ? x.k - first : chunk);
        if (left == 0 || length < x.k) { // otherwise the whole row is still there
          __syncthreads();
          const T* a = x.a + i * x.a_row + first * x.a_col;
          for (int p = static_cast<int>(threadIdx.x); p < length; p += threads) row[p] = a[p * x.a_col];
          __syncthreads();
        }
        if (j >= x.n) continue;
        const T* b = x.b + j * x.b_col + first * x.b_row;
        for (int p = 0; p < length; ++p, b += x.b_row) {
          if (p % canonical_segment == 0) sum.begin(first + p);
          sum.chain = fused(row[p], *b, sum.chain);
        }
      }
      if (j >= x.n) continue;
      T* const c = x.c + i * x.ldc + j;
      const T scaled = x.alpha * sum.value();
      *c = x.beta == T{0} ? scaled : fused(x.beta, *c, scaled);
    }
  }
}

template <class T>
void launch(const GemmCall& call, cudaStream_t stream) {
  constexpr Index most_blocks = 0x7fffffff;
  const auto blocks = static_cast<unsigned>(call.m < most_blocks ? call.m : most_blocks);
  const int chunk = static_cast<int>(call.k < most<T> ? call.k : most<T>);
  // The compiler reads the row in vectors of 16 bytes, also at its end, and uses the elements that it needs. So the
  // allocation is rounded up to whole vectors; compute-sanitizer reports the reads otherwise.
  const unsigned bytes = ceil_div(static_cast<unsigned>(chunk * sizeof(T)), 16u) * 16u;
  row_shared<<<blocks, threads, bytes, stream>>>(StridedOperands<T>(call), chunk);
}

template <class T>
GemmTraffic traffic(const GemmKernel& kernel, const GemmCall& call) noexcept {
  return row_traffic(kernel, call, most<T>);
}

template <class T>
constexpr GemmKernel rung{.name = "row_shared",
                          .summary = "a block a row of C, the row of A in shared memory",
                          .source = "CUDA course",
                          .type = dtype_of<T>,
                          .tile = {1, threads, 1},
                          .summation = Summation::Canonical,
                          .run = run_launch<launch<T>>,
                          .traffic = traffic<T>};

} // namespace

const GemmKernel row_shared_f32 = rung<float>;
const GemmKernel row_shared_f64 = rung<double>;

} // namespace tessera::cuda
