#pragma once

/// xtensor, both ways. Optional: tessera.hpp does not include it, and it needs xtensor 0.24 or later.
///
///     auto view = as_xtensor(a);                 // shares a's elements; xt::sum(view), view += 1, …
///     Matrix<double> m = from_xtensor(xt::eye<double>(3) * 2.0);

#include <array>
#include <cstddef>
#include <type_traits>

#include <xtensor/xadapt.hpp>
#include <xtensor/xexpression.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xstrided_view.hpp>
#include <xtensor/xtensor.hpp>

#include <tessera/matrix.hpp>
#include <tessera/status.hpp>

namespace tessera {
namespace detail {

/// A strided view of a flat buffer. A container with strides of its own would not do: xtensor takes the elements of a
/// container to lie side by side, and would run over the padding.
template <class T>
auto adapt_host(T* data, Index rows, Index cols, Index row_step, Index col_step) {
  using Shape = std::array<std::size_t, 2>;
  using Strides = std::array<std::ptrdiff_t, 2>;
  const Index reach = rows > 0 && cols > 0 ? (rows - 1) * row_step + (cols - 1) * col_step + 1 : 0;
  const std::array<std::size_t, 1> length{static_cast<std::size_t>(reach)};
  return xt::strided_view(xt::adapt(static_cast<T*>(data), length[0], xt::no_ownership(), length),
                          Shape{static_cast<std::size_t>(rows), static_cast<std::size_t>(cols)},
                          Strides{rows > 1 ? row_step : 0, cols > 1 ? col_step : 0}, 0, xt::layout_type::dynamic);
}

} // namespace detail

/// The host's elements of a matrix as a two-dimensional xtensor view that owns nothing: no copy, padding
/// skipped by strides. Valid as long as the matrix lives and is neither assigned to nor used on a device. The
/// non-const form makes the host's copy the newest one.
template <class T>
auto as_xtensor(Matrix<T>& matrix) {
  return detail::adapt_host(matrix.data(), matrix.rows(), matrix.cols(), matrix.ld(), 1);
}
template <class T>
auto as_xtensor(const Matrix<T>& matrix) {
  return detail::adapt_host(matrix.data(), matrix.rows(), matrix.cols(), matrix.ld(), 1);
}
template <class T>
auto as_xtensor(const Matrix<T>&& matrix) = delete; // would outlive its elements

/// The same for a block or a transpose.
template <class T>
auto as_xtensor(const MatrixView<T>& view) {
  const detail::Operand& x = view.operand();
  const bool flipped = x.op == Op::Transpose;
  T* data = view.rows() > 0 && view.cols() > 0 ? &view(0, 0) : nullptr;
  const Index ld = x.storage->ld();
  return detail::adapt_host(data, view.rows(), view.cols(), flipped ? 1 : ld, flipped ? ld : 1);
}

/// Evaluates a two-dimensional xtensor expression into a new matrix. Throws InvalidArgument otherwise.
template <class E>
Matrix<std::remove_cv_t<typename E::value_type>> from_xtensor(const xt::xexpression<E>& expression) {
  const E& e = expression.derived_cast();
  if (e.dimension() != 2)
    throw InvalidArgument("from_xtensor: the expression has " + std::to_string(e.dimension()) +
                          " dimensions; a matrix has two");
  auto matrix = Matrix<std::remove_cv_t<typename E::value_type>>::uninitialized(static_cast<Index>(e.shape()[0]),
                                                                                static_cast<Index>(e.shape()[1]));
  if (!matrix.empty()) {
    auto target = as_xtensor(matrix);
    xt::noalias(target) = e;
  }
  return matrix;
}

} // namespace tessera
