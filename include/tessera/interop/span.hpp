#pragma once

/// Adaptor to std::span with a shape; detail/adaptor.hpp describes the functions. tessera.hpp does not include this
/// header.
///
///     std::vector<float> x(6), y(6), z(4);
///     gemm(1.0f, view_of(std::span(x), 2, 3), view_of(std::span(y), 3, 2), 0.0f, view_of(std::span(z), 2, 2));
///     auto columns = view_of(std::span(x), 3, 2).transposed();    // column-major 2×3
///
/// Elements are rows×cols, row by row, with `ld` elements from row to row; ld is cols if it is left out. For
/// column-major elements pass the transposed shape and call .transposed().

#include <cstddef>
#include <span>

#include <tessera/detail/adaptor.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {
namespace detail {

inline void check_span(std::size_t size, Index rows, Index cols, Index ld) {
  if (rows < 0 || cols < 0 || ld < cols || rows == 0 || cols == 0) return; // none needed, or refused by the view
  const auto length = static_cast<Index>(size);
  if (length < cols || (length - cols) / ld < rows - 1)
    throw InvalidArgument("view_of: a span of " + std::to_string(size) + " elements is too short for " +
                          std::to_string(rows) + "×" + std::to_string(cols) + " with ld = " + std::to_string(ld));
}

} // namespace detail

/// Returns a view of the span's elements without a copy. Throws InvalidArgument if the span is too short, or if
/// no matrix has such sizes.
template <detail::Element T, std::size_t extent>
MatrixView<T> view_of(std::span<T, extent> elements, Index rows, Index cols, Index ld) {
  detail::check_span(elements.size(), rows, cols, ld);
  return MatrixView<T>::wrap(elements.data(), rows, cols, ld);
}
/// Returns a view of rows that lie side by side, ld = cols.
template <detail::Element T, std::size_t extent>
MatrixView<T> view_of(std::span<T, extent> elements, Index rows, Index cols) {
  return view_of(elements, rows, cols, cols);
}

/// Copies the span's elements into a new matrix.
template <detail::Element T, std::size_t extent>
Matrix<std::remove_const_t<T>> from_span(std::span<T, extent> elements, Index rows, Index cols, Index ld) {
  return Matrix<std::remove_const_t<T>>(view_of(elements, rows, cols, ld).view());
}
/// Copies rows that lie side by side, ld = cols.
template <detail::Element T, std::size_t extent>
Matrix<std::remove_const_t<T>> from_span(std::span<T, extent> elements, Index rows, Index cols) {
  return from_span(elements, rows, cols, cols);
}

/// Returns the host's elements of a matrix, from the first to the last, with the padding between rows: element (i, j)
/// has index i·ld() + j. The span is valid as long as the matrix exists and is neither assigned to nor used on a
/// device. The non-const form makes the host's copy the newest one.
template <class T>
std::span<T> as_span(Matrix<T>& matrix) {
  return {matrix.data(),
          matrix.empty() ? 0 : static_cast<std::size_t>((matrix.rows() - 1) * matrix.ld() + matrix.cols())};
}
/// Returns the host's elements of a matrix, read-only.
template <class T>
std::span<const T> as_span(const Matrix<T>& matrix) {
  return {matrix.data(),
          matrix.empty() ? 0 : static_cast<std::size_t>((matrix.rows() - 1) * matrix.ld() + matrix.cols())};
}
/// Is deleted, because the span would outlive its elements.
template <class T>
std::span<const T> as_span(const Matrix<T>&& matrix) = delete; // would outlive its elements

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
