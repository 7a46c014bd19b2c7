#pragma once

/// The flat layout: a one-dimensional grid of 256-thread blocks over the elements of C, row by row. naive_flat and
/// kahan_flat share it and differ in `Sum`.

#include "cuda/gemm/common/grid.cuh"
#include "cuda/queue/stream.hpp"
#include "dot.cuh"

namespace tessera::cuda::flat {

constexpr int threads = 256;

template <class T, class Sum>
__global__ void elements(StridedOperands<T> x) {
  const Index element = static_cast<Index>(blockIdx.x) * threads + threadIdx.x;
  const Index i = element / x.n;
  const Index j = element % x.n;
  if (i < x.m) compute_element<Sum>(x, i, j);
}

template <class T, class Sum>
void launch(Queue& queue, const GemmCall& call) {
  const auto blocks = static_cast<unsigned>(ceil_div<Index>(call.m * call.n, threads));
  elements<T, Sum><<<blocks, threads, 0, stream_of(queue)>>>(StridedOperands<T>(call));
}

} // namespace tessera::cuda::flat
