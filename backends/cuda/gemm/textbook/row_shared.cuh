#pragma once

/// A block computes a row of C and keeps the row of op(A) in dynamic shared memory. row_shared and kahan_row_shared
/// share this and differ in `Sum`.

#include "cuda/device/status.hpp"
#include "cuda/gemm/common/canonical.cuh"
#include "cuda/gemm/common/operands.cuh"
#include "cuda/gemm/common/traffic.hpp"
#include "cuda/queue/stream.hpp"

namespace tessera::cuda::row_in_shared {

constexpr int threads = 256;
/// Bytes of dynamic shared memory that every device gives without opt-in. A longer row comes in chunks.
constexpr Index most_bytes = 48 * 1024;
/// The compiler reads the row in vectors, also at its end, and uses the elements that it needs. So the allocation is
/// rounded up to whole vectors; compute-sanitizer reports the reads otherwise.
constexpr unsigned vector_bytes = 16;

/// Computes the rows of C. `chunk` elements of a row of op(A) are in shared memory at once: all k, or a multiple of
/// canonical_segment.
template <class T, class Sum>
__global__ void __launch_bounds__(threads) rows(StridedOperands<T> x, int chunk) {
  extern __shared__ double storage[]; // aligned for float and double
  T* const row = reinterpret_cast<T*>(storage);
  for (Index i = blockIdx.x; i < x.m; i += gridDim.x) {
    for (Index left = 0; left < x.n; left += threads) {
      const Index j = left + threadIdx.x;
      Sum sum;
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
          sum.extend(row[p], *b);
        }
      }
      if (j < x.n) store_result(x.c + i * x.ldc + j, sum.value(), x.alpha, x.beta);
    }
  }
}

/// Elements of a row that fit into shared memory at once: whole segments.
template <class T>
constexpr Index most = most_bytes / static_cast<Index>(sizeof(T)) / canonical_segment* canonical_segment;

template <class T>
GemmTraffic traffic(const GemmKernel& kernel, const GemmCall& call) noexcept {
  return row_traffic(kernel, call, most<T>);
}

template <class T, class Sum>
void launch(Queue& queue, const GemmCall& call) {
  constexpr Index most_blocks = 0x7fffffff;
  const int chunk = static_cast<int>(call.k < most<T> ? call.k : most<T>);
  const auto blocks = static_cast<unsigned>(call.m < most_blocks ? call.m : most_blocks);
  const auto row_bytes = static_cast<unsigned>(chunk) * static_cast<unsigned>(sizeof(T));
  const unsigned bytes = (row_bytes + vector_bytes - 1) / vector_bytes * vector_bytes;
  rows<T, Sum><<<blocks, threads, bytes, stream_of(queue)>>>(StridedOperands<T>(call), chunk);
}

} // namespace tessera::cuda::row_in_shared
