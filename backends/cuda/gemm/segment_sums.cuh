#pragma once

/// The last step of products whose segments of k were summed by different blocks: the canonical summation's second
/// half.

#include "grid.cuh"
#include "scratch.hpp"
#include "status.hpp"

namespace tessera::cuda {

/// sums is [segment][rows][cols]; element (r, c) goes to c[r·row_stride + c·col_stride].
template <class T>
struct SegmentSums {
  T* sums;
  Index segments, rows, cols;
  T* c;
  Index row_stride, col_stride;
  T alpha, beta;
};

template <class T>
__global__ void add_segments(SegmentSums<T> x) {
  const Index e = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  const Index all = x.rows * x.cols;
  if (e >= all) return;
  T sum = x.sums[e];
  for (Index segment = 1; segment < x.segments; ++segment) sum += x.sums[segment * all + e];
  store_result(x.c + e / x.cols * x.row_stride + e % x.cols * x.col_stride, sum, x.alpha, x.beta);
}

template <class T>
Status launch_add_segments(cudaStream_t stream, const SegmentSums<T>& x, const char* name) noexcept {
  constexpr int threads = 256;
  add_segments<<<static_cast<unsigned>(ceil_div<Index>(x.rows * x.cols, threads)), threads, 0, stream>>>(x);
  return launched(name);
}

template <class T>
Status allocate_sums(Scratch& scratch, Executor& executor, Queue& queue, Index segments, Index results) noexcept {
  return scratch.allocate(executor, queue, static_cast<std::size_t>(segments * results) * sizeof(T));
}

} // namespace tessera::cuda
