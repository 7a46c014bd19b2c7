/// Matrices whose elements are each made of one element: read from their end or row by row, with zeros above a
/// diagonal, scaled and rounded to f32, without their signs.

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

struct Narrowed {
  const double* x;
  Index ldx;
  const double *row_scales, *column_scales;
  __device__ float operator()(Index i, Index j) const {
    return static_cast<float>(x[i * ldx + j] * row_scales[i] * column_scales[j]);
  }
};

struct MagnitudeOf {
  const double* x;
  Index ldx;
  __device__ double operator()(Index i, Index j) const { return fabs(x[i * ldx + j]); }
};

const double* numbers_of(const PanelCall& call) { return static_cast<const double*>(call.x); }
bool is_f64(const PanelCall& call) { return call.type == DType::F64; }
Status of_f64_alone() { return {StatusCode::Rejected, "f64 alone is narrowed, or loses its signs"}; }

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

Status narrow(Queue& queue, const PanelCall& call) noexcept {
  if (!is_f64(call)) return of_f64_alone();
  return for_each<float>(queue, call.rows, call.cols, call.a, call.lda,
                         Narrowed{numbers_of(call), call.ldx, call.row_scales, call.column_scales}, "narrowing");
}

Status magnitudes(Queue& queue, const PanelCall& call) noexcept {
  if (!is_f64(call)) return of_f64_alone();
  return for_each<double>(queue, call.rows, call.cols, call.a, call.lda, MagnitudeOf{numbers_of(call), call.ldx},
                          "magnitudes");
}

} // namespace tessera::cuda
