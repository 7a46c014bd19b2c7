#pragma once

/// Adaptor to and from xtensor 0.24 or later; detail/adaptor.hpp describes the functions. tessera.hpp does not include
/// this header.
///
///     auto view = as_xtensor(a);                 // shares a's elements; xt::sum(view), view += 1, …
///     Matrix<double> m = from_xtensor(xt::eye<double>(3) * 2.0);
///     Matrix c = gemm(x, xt::transpose(y));      // xt::xtensor or xt::xarray: no copy
///
/// Containers, adaptors, views and transposes of two dimensions are read where they are; from_xtensor evaluates other
/// expressions.

#include <array>
#include <cstddef>
#include <type_traits>

#if __has_include(<xtensor/containers/xadapt.hpp>) // xtensor 0.26 and later have folders
#include <xtensor/containers/xadapt.hpp>
#include <xtensor/containers/xtensor.hpp>
#include <xtensor/core/xexpression.hpp>
#include <xtensor/core/xnoalias.hpp>
#include <xtensor/views/xstrided_view.hpp>
#else
#include <xtensor/xadapt.hpp>
#include <xtensor/xexpression.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xstrided_view.hpp>
#include <xtensor/xtensor.hpp>
#endif

#include <tessera/detail/adaptor.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {
namespace detail {

/// Returns a strided view of a flat buffer. It cannot be a container with strides, because xtensor assumes that the
/// elements of a container lie side by side, and would read the padding.
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

template <class X>
concept XtensorWithMemory = xt::is_xexpression<X>::value && xt::has_data_interface<X>::value &&
    xt::has_strides<X>::value && Element<typename X::value_type>;

inline void check_two_dimensions(const char* function, std::size_t dimensions) {
  if (dimensions != 2)
    throw InvalidArgument(std::string(function) + ": the expression has " + std::to_string(dimensions) +
                          " dimensions; a matrix has two");
}

template <XtensorWithMemory X>
struct Adapted<X> {
  static constexpr const char* library = "xtensor";
  static constexpr bool owns = true; // so do views, which hold a temporary that they were made of
  static auto steps(auto& x) {
    check_two_dimensions("view_of", x.dimension());
    const auto rows = static_cast<Index>(x.shape()[0]), cols = static_cast<Index>(x.shape()[1]);
    return Steps{x.data() + x.data_offset(), rows, cols, static_cast<Index>(x.strides()[0]),
                 static_cast<Index>(x.strides()[1])};
  }
};

} // namespace detail

/// Returns the host's elements of a matrix as a two-dimensional xtensor view without a copy; its strides skip the
/// padding. The view is valid as long as the matrix exists and is neither assigned to nor used on a device. The
/// non-const form makes the host's copy the newest one.
template <class T>
auto as_xtensor(Matrix<T>& matrix) {
  return detail::adapt_host(matrix.data(), matrix.rows(), matrix.cols(), matrix.ld(), 1);
}
/// Returns the host's elements as a read-only xtensor view without a copy.
template <class T>
auto as_xtensor(const Matrix<T>& matrix) {
  return detail::adapt_host(matrix.data(), matrix.rows(), matrix.cols(), matrix.ld(), 1);
}
/// Is deleted, because the view would outlive its elements.
template <class T>
auto as_xtensor(const Matrix<T>&& matrix) = delete; // would outlive its elements

/// Returns the host's elements of a block or a transpose. The view is valid as long as the matrix
/// exists and is neither assigned to nor used on a device.
template <class T>
auto as_xtensor(const MatrixView<T>& view) {
  const detail::Steps<T> x = detail::host_steps(view);
  return detail::adapt_host(x.data, x.rows, x.cols, x.row_step, x.col_step);
}

/// Evaluates an xtensor expression into a new matrix. Throws InvalidArgument unless it has two dimensions.
template <class E>
Matrix<std::remove_cv_t<typename E::value_type>> from_xtensor(const xt::xexpression<E>& expression) {
  const E& e = expression.derived_cast();
  detail::check_two_dimensions("from_xtensor", e.dimension());
  auto matrix = Matrix<std::remove_cv_t<typename E::value_type>>::uninitialized(static_cast<Index>(e.shape()[0]),
                                                                                static_cast<Index>(e.shape()[1]));
  if (!matrix.empty()) {
    auto target = as_xtensor(matrix);
    xt::noalias(target) = e;
  }
  return matrix;
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
