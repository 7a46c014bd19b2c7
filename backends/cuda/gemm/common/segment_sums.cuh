#pragma once

/// The last step of products whose segments of k were summed by different blocks: adds the sums of the segments in
/// ascending order, which is the second half of the strict sum.

#include "cuda/device/status.hpp"
#include "cuda/queue/scratch.hpp"
#include "grid.cuh"
#include "programmatic_launch.cuh"
#include "stores/results.cuh"
#include "tile_loader.cuh"
#include "unfit_lines.cuh"

namespace tessera::cuda {

/// Returns the product over one segment of k alone, with its results in that segment's sums.
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
  x.epilogue.wanted = false;
  return x;
}

/// The sums of all segments, and where their totals go. `sums` is [segment][m][n], or [segment][n][m] if `transposed`.
template <class T>
struct SegmentSums {
  T* sums;
  Index segments;
  bool transposed = false;
  EpilogueStore<T> epilogue;
  UnfitLines unfit = {}; ///< results in marked rows and columns are not stored
};

/// Returns the row and column of result number e, for rows of `cols` results and `all` results in total. Most products
/// have fewer than 2³² results, and a division of 32 bits takes far fewer instructions than one of 64.
__device__ inline ResultPlace place_among(Index e, Index cols, Index all) {
  if (all >> 32 != 0) return {e / cols, e % cols};
  const unsigned row = static_cast<unsigned>(e) / static_cast<unsigned>(cols);
  return {row, e - Index{row} * cols};
}

/// Adds the segments' sums and stores the results. Each thread has `width` neighbours of a row, and reads their sums of
/// `batch` segments at once.
template <class T, int width, int batch>
__global__ void add_segments(const __grid_constant__ SegmentSums<T> x) {
  using Results = Neighbours<T, width>;
  launch_dependents();
  wait_for_kernel_before();
  const Index e = (static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x) * width;
  const Index all = x.epilogue.m * x.epilogue.n;
  if (e >= all) return;
  const auto at = [&](Index segment) { return *reinterpret_cast<const Results*>(x.sums + segment * all + e); };
  Results sum = at(0);
  for (Index first = 1; first < x.segments; first += batch) {
    Results next[batch];
#pragma unroll
    for (int s = 0; s < batch; ++s)
      if (first + s < x.segments) next[s] = at(first + s);
#pragma unroll
    for (int s = 0; s < batch; ++s)
      if (first + s < x.segments)
#pragma unroll
        for (int i = 0; i < width; ++i) sum.element[i] += next[s].element[i];
  }
  const ResultPlace lies = place_among(e, x.transposed ? x.epilogue.m : x.epilogue.n, all);
  const ResultPlace place = x.transposed ? ResultPlace{lies.col, lies.row} : lies;
  if constexpr (sizeof(T) == 4)
    if (x.unfit.found()) [[unlikely]] {
      for (int i = 0; i < width; ++i) x.unfit.store_if_fit(x.epilogue, place.row, place.col + i, sum.element[i]);
      return;
    }
  if (x.epilogue.wanted) [[unlikely]] {
    T sums[1][width];
#pragma unroll
    for (int i = 0; i < width; ++i) sums[0][i] = sum.element[i];
    return x.epilogue.store([&](int) { return place; }, sums);
  }
  T* const c = static_cast<T*>(x.epilogue.c) + place.row * x.epilogue.ldc + place.col;
  if (width > 1 && x.epilogue.vectors) {
    Results& to = *reinterpret_cast<Results*>(c);
    Results result;
    if (x.epilogue.beta != T{0}) result = to;
#pragma unroll
    for (int i = 0; i < width; ++i) store_result(&result.element[i], sum.element[i], x.epilogue.alpha, x.epilogue.beta);
    to = result;
  } else {
    T old[width];
    if (x.epilogue.beta != T{0}) {
#pragma unroll
      for (int i = 0; i < width; ++i) old[i] = c[i];
    }
#pragma unroll
    for (int i = 0; i < width; ++i) c[i] = strict_result(sum.element[i], x.epilogue.alpha, x.epilogue.beta, old[i]);
  }
}

/// Enqueues the addition, after the kernel that wrote the sums. If `programmatic`, it is a programmatic dependent
/// launch, which needs compute capability 9.0.
template <class T>
Status launch_add_segments(cudaStream_t stream, const SegmentSums<T>& x, const char* name,
                           bool programmatic = true) noexcept {
  const Index results = x.epilogue.m * x.epilogue.n;
  constexpr int width = EpilogueStore<T>::width;
  // Few results: small blocks spread over more multiprocessors, and each thread has more reads in flight.
  const bool few = results < 1 << 16;
  const bool vectors = !few && !x.transposed && x.epilogue.n % width == 0;
  const Index threads = few ? 64 : 256;
  const Index each = vectors ? width : 1;
  const auto kernel = few ? add_segments<T, 1, 32> : vectors ? add_segments<T, width, 8> : add_segments<T, 1, 8>;
  const Launch how{
      .blocks = ceil_div(results, threads * each), .threads = static_cast<int>(threads), .programmatic = programmatic};
  return launch_kernel(stream, how, name, kernel, x);
}

/// Allocates the sums of `segments` segments of `results` results each.
template <class T>
Status allocate_sums(Scratch& scratch, Executor& executor, Queue& queue, Index segments, Index results) noexcept {
  return scratch.allocate(executor, queue, static_cast<std::size_t>(segments * results) * sizeof(T));
}

} // namespace tessera::cuda
