#pragma once

/// The last step of products whose segments of k were summed by different blocks: the canonical summation's second
/// half.

#include "early_launch.cuh"
#include "grid.cuh"
#include "scratch.hpp"
#include "status.hpp"
#include "tile_loader.cuh"

namespace tessera::cuda {

/// The product over one segment of k alone, into its sums.
template <class T>
__device__ VectorOperands<T> segment_of(VectorOperands<T> x, Index segment, T* sums) {
  const Index begin = segment * canonical_segment;
  x.a += begin * x.a_col;
  x.b += begin * x.b_row;
  x.k = x.k - begin < canonical_segment ? x.k - begin : canonical_segment;
  x.c = sums + segment * x.m * x.n;
  x.ldc = x.n;
  x.c_vectors = x.n % Vector<T>::width == 0;
  x.alpha = 1;
  x.beta = 0;
  x.finish.wanted = false;
  return x;
}

/// sums is [segment][m][n], or [segment][n][m] if they are `turned`.
template <class T>
struct SegmentSums {
  T* sums;
  Index segments;
  bool turned = false;
  Finish<T> finish;
  const int* unfit = nullptr; ///< if set and not 0: nothing is to be done
};

template <class T>
__global__ void add_segments(const __grid_constant__ SegmentSums<T> x) {
  launch_dependents();
  wait_for_kernel_before();
  if (x.unfit != nullptr && *x.unfit != 0) return;
  const Index e = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  const Index all = x.finish.m * x.finish.n;
  if (e >= all) return;
  const T* from = x.sums + e;
  T sum = *from;
  constexpr int batch = 32; // loads in flight: few results have few threads
  for (Index first = 1; first < x.segments; first += batch) {
    T part[batch];
#pragma unroll
    for (int s = 0; s < batch; ++s)
      if (first + s < x.segments) part[s] = from[(first + s) * all];
#pragma unroll
    for (int s = 0; s < batch; ++s)
      if (first + s < x.segments) sum += part[s];
  }
  const Index cols = x.turned ? x.finish.m : x.finish.n;
  const Index down = e / cols, across = e % cols;
  const ResultPlace place = x.turned ? ResultPlace{across, down} : ResultPlace{down, across};
  if (x.finish.wanted) [[unlikely]]
    x.finish.store([&](int) { return place; }, {{sum}});
  else
    store_result(static_cast<T*>(x.finish.c) + place.row * x.finish.ldc + place.col, sum, x.finish.alpha,
                 x.finish.beta);
}

/// Behind the kernel that made the sums, and before it has ended if that is allowed: from compute capability 9.0 on.
template <class T>
Status launch_add_segments(cudaStream_t stream, const SegmentSums<T>& x, const char* name, bool early = true) noexcept {
  const Index results = x.finish.m * x.finish.n;
  const Index threads = results < 1 << 16 ? 64 : 256; // few results are to be read by many multiprocessors
  const Launch how{.blocks = ceil_div(results, threads), .threads = static_cast<int>(threads), .early = early};
  return launch_kernel(stream, how, name, add_segments<T>, x);
}

template <class T>
Status allocate_sums(Scratch& scratch, Executor& executor, Queue& queue, Index segments, Index results) noexcept {
  return scratch.allocate(executor, queue, static_cast<std::size_t>(segments * results) * sizeof(T));
}

} // namespace tessera::cuda
