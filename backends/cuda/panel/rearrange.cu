/// Matrices that are read from their end or row by row, and zeros above a diagonal.

#include "cuda/elementwise/for_each.cuh"
#include "number.cuh"
#include "panel.hpp"

namespace tessera::cuda {
namespace {

template <class T>
struct Reversed {
  const T* x;
  Index ldx, last_row, last_col;
  bool keep_columns, keep_rows;
  __device__ T operator()(Index i, Index j) const {
    return x[(keep_rows ? i : last_row - i) * ldx + (keep_columns ? j : last_col - j)];
  }
};

template <class T>
struct Gathered {
  const T* x;
  Index ldx;
  const Index* numbers;
  __device__ T operator()(Index i, Index j) const { return x[numbers[i] * ldx + j]; }
};

template <class T>
struct LowerPart {
  const T* a;
  Index lda;
  __device__ T operator()(Index i, Index j) const { return j > i ? T{} : a[i * lda + j]; }
};

template <class T>
Status reverse_typed(Queue& queue, const PanelCall& call) noexcept {
  const Reversed<T> value{
      static_cast<const T*>(call.x), call.ldx, call.rows - 1, call.cols - 1, call.keep_columns, call.keep_rows};
  return for_each<T>(queue, call.rows, call.cols, call.a, call.lda, value, "reversal");
}

template <class T>
Status gather_typed(Queue& queue, const PanelCall& call) noexcept {
  const Gathered<T> value{static_cast<const T*>(call.x), call.ldx, call.numbers};
  return for_each<T>(queue, call.rows, call.cols, call.a, call.lda, value, "gathering rows");
}

template <class T>
Status clear_upper_typed(Queue& queue, const PanelCall& call) noexcept {
  const LowerPart<T> value{static_cast<const T*>(call.a), call.lda};
  return for_each<T>(queue, call.rows, call.cols, call.a, call.lda, value, "clearing a triangle");
}

} // namespace

Status reverse(Queue& queue, const PanelCall& call) noexcept {
  return for_number_of(call, [&]<class T>(T) { return reverse_typed<T>(queue, call); });
}
Status gather_rows(Queue& queue, const PanelCall& call) noexcept {
  return for_number_of(call, [&]<class T>(T) { return gather_typed<T>(queue, call); });
}
Status clear_upper(Queue& queue, const PanelCall& call) noexcept {
  return for_number_of(call, [&]<class T>(T) { return clear_upper_typed<T>(queue, call); });
}

} // namespace tessera::cuda
