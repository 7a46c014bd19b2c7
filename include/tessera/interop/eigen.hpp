#pragma once

/// Adaptor to and from Eigen 3.3 or later; detail/adaptor.hpp describes the functions. tessera.hpp does not include
/// this header.
///
///     Eigen::MatrixXf x, y, z;
///     gemm(1.0f, x, y.transpose(), 0.0f, z);      // z has its size beforehand, as in the BLAS
///     Matrix c = gemm(x, y.block(0, 0, 9, 9));    // no copy of x or y
///     Eigen::VectorXf norms = as_eigen(c).rowwise().norm();
///
/// Matrix, Array, Map, Ref, Block and Transpose, row-major and column-major, are read where they are; a vector is a
/// matrix of one column or row. from_eigen evaluates other expressions.

#include <Eigen/Core>

#include <tessera/detail/adaptor.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {
namespace detail {

template <class D>
void dense_only(const Eigen::DenseBase<D>&);
template <class D>
void owners_only(const Eigen::PlainObjectBase<D>&);
/// A Ref to const holds a copy if the expression has other steps than the Ref.
template <class M, int options, class Stride>
void owners_only(const Eigen::Ref<const M, options, Stride>&);

template <class X>
concept EigenWithMemory = requires(const X& x) {
  dense_only(x);
  requires static_cast<bool>(X::Flags & Eigen::DirectAccessBit);
  requires Element<typename X::Scalar>;
};

template <EigenWithMemory X>
struct Adapted<X> {
  static constexpr const char* library = "eigen";
  static constexpr bool owns = requires(const X& x) { owners_only(x); };
  static auto steps(auto& x) { return Steps{x.data(), Index{x.rows()}, Index{x.cols()}, x.rowStride(), x.colStride()}; }
};

template <class T>
using EigenRows = Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T, class Stride>
using EigenMap =
    Eigen::Map<std::conditional_t<std::is_const_v<T>, const EigenRows<T>, EigenRows<T>>, Eigen::Unaligned, Stride>;

} // namespace detail

/// Returns the host's elements of a matrix as a row-major Eigen::Map without a copy. The map is valid as long as the
/// matrix exists and is neither assigned to nor used on a device. The non-const form makes the host's copy the newest
/// one.
template <class T>
auto as_eigen(Matrix<T>& matrix) {
  return detail::EigenMap<T, Eigen::OuterStride<>>(matrix.data(), matrix.rows(), matrix.cols(),
                                                   Eigen::OuterStride<>(matrix.ld()));
}
/// Returns the host's elements as a read-only Eigen::Map without a copy.
template <class T>
auto as_eigen(const Matrix<T>& matrix) {
  return detail::EigenMap<const T, Eigen::OuterStride<>>(matrix.data(), matrix.rows(), matrix.cols(),
                                                         Eigen::OuterStride<>(matrix.ld()));
}
/// Is deleted, because the map would outlive its elements.
template <class T>
auto as_eigen(const Matrix<T>&& matrix) = delete; // would outlive its elements

/// Returns the host's elements of a block or a transpose as an Eigen::Map with two strides. The map is valid as long as
/// the matrix exists and is neither assigned to nor used on a device.
template <class T>
auto as_eigen(const MatrixView<T>& view) {
  using Stride = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  const detail::Steps<T> x = detail::host_steps(view);
  return detail::EigenMap<T, Stride>(x.data, x.rows, x.cols, Stride(x.row_step, x.col_step));
}

/// Evaluates an Eigen expression into a new matrix.
template <class D>
Matrix<typename D::Scalar> from_eigen(const Eigen::DenseBase<D>& expression) {
  auto matrix = Matrix<typename D::Scalar>::uninitialized(expression.rows(), expression.cols());
  if (!matrix.empty()) as_eigen(matrix).noalias() = expression.derived().matrix();
  return matrix;
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
