/// Matrices that are read from their end, triangles, and sums of columns.

#include "cuda/elementwise/for_each.cuh"
#include "panel.hpp"

namespace tessera::cuda {
namespace {

constexpr int threads = 32;

template <class T>
struct Reversed {
  const T* x;
  Index ldx, last_row, last_col;
  bool keep_columns;
  __device__ T operator()(Index i, Index j) const {
    return x[(last_row - i) * ldx + (keep_columns ? j : last_col - j)];
  }
};

template <class T>
struct LowerPart {
  const T* a;
  Index lda;
  __device__ T operator()(Index i, Index j) const { return j > i ? T(0) : a[i * lda + j]; }
};

template <class T>
Status reverse_typed(Queue& queue, const PanelCall& call) noexcept {
  const Reversed<T> value{static_cast<const T*>(call.x), call.ldx, call.rows - 1, call.cols - 1, call.keep_columns};
  return for_each<T>(queue, call.rows, call.cols, call.a, call.lda, value, "reversal");
}

template <class T>
Status clear_upper_typed(Queue& queue, const PanelCall& call) noexcept {
  const LowerPart<T> value{static_cast<const T*>(call.a), call.lda};
  return for_each<T>(queue, call.rows, call.cols, call.a, call.lda, value, "clearing a triangle");
}

/// Adds the magnitudes of `count` numbers that lie `step` apart, one after another; loads are ahead of the additions.
template <class T>
__device__ void add_numbers(const T* from, Index step, Index count, T scale, double& sum) {
  constexpr int ahead = 32;
  Index i = 0;
  for (; i + ahead <= count; i += ahead, from += ahead * step) {
    T read[ahead];
#pragma unroll
    for (int u = 0; u < ahead; ++u) read[u] = from[u * step];
#pragma unroll
    for (int u = 0; u < ahead; ++u) sum += fabs(static_cast<double>(scale * read[u]));
  }
  for (; i < count; ++i, from += step) sum += fabs(static_cast<double>(scale * *from));
}

/// A thread has a column, whose order of additions is fixed.
template <class T>
__global__ void __launch_bounds__(threads)
    add_columns(const T* a, Index lda, Index rows, Index cols, bool symmetric, T scale, double* sums) {
  const Index col = static_cast<Index>(blockIdx.x) * threads + threadIdx.x;
  if (col >= cols) return;
  double sum = 0;
  Index i = 0;
  if (symmetric) {
    add_numbers(a + col * lda, 1, col, scale, sum);
    i = col;
  }
  add_numbers(a + i * lda + col, lda, rows - i, scale, sum);
  sums[col] = sum;
}

template <class T>
Status column_sums_typed(Queue& queue, const PanelCall& call) noexcept {
  add_columns<T><<<static_cast<unsigned>((call.cols + threads - 1) / threads), threads, 0, stream_of(queue)>>>(
      static_cast<const T*>(call.a), call.lda, call.rows, call.cols, call.symmetric, static_cast<T>(call.scale),
      call.sums);
  return launched("sums of columns");
}

} // namespace

Status reverse(Queue& queue, const PanelCall& call) noexcept {
  return call.type == DType::F32 ? reverse_typed<float>(queue, call) : reverse_typed<double>(queue, call);
}
Status clear_upper(Queue& queue, const PanelCall& call) noexcept {
  return call.type == DType::F32 ? clear_upper_typed<float>(queue, call) : clear_upper_typed<double>(queue, call);
}
Status column_sums(Queue& queue, const PanelCall& call) noexcept {
  return call.type == DType::F32 ? column_sums_typed<float>(queue, call) : column_sums_typed<double>(queue, call);
}

} // namespace tessera::cuda
