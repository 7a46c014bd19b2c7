#pragma once

/// Adaptor to and from mdspan; detail/adaptor.hpp describes the functions. tessera.hpp does not include this header.
///
///     std::mdspan<float, std::dextents<int, 2>, std::layout_left> x(memory, 300, 200);    // column-major
///     Matrix c = gemm(x, y);                                                             // no copy of x or y
///     auto rows = as_mdspan(c);                                                          // rows[i, j]
///
/// view_of and gemm take any class that models MdspanLike: std::mdspan, Kokkos::mdspan, cuda::std::mdspan (of host
/// memory), or a class of the program. as_mdspan makes the first of these three that can be included; where none can,
/// it is not declared and TESSERA_HAS_MDSPAN is 0.

#include <cstddef>
#include <version>

#if defined(__cpp_lib_mdspan)
#include <mdspan>
/// 1 if as_mdspan is declared, else 0.
#define TESSERA_HAS_MDSPAN 1
namespace tessera::detail {
namespace md = std;
}
#elif __has_include(<mdspan/mdspan.hpp>)
#include <mdspan/mdspan.hpp>
#define TESSERA_HAS_MDSPAN 1
namespace tessera::detail {
namespace md = Kokkos;
}
#elif __has_include(<cuda/std/mdspan>)
#include <cuda/std/mdspan>
#define TESSERA_HAS_MDSPAN 1
namespace tessera::detail {
namespace md = cuda::std;
}
#else
#define TESSERA_HAS_MDSPAN 0
#endif

#include <tessera/detail/adaptor.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {
namespace detail {

template <class X>
concept TwoDimensional = (X::rank() == 2);

/// The elements that the accessor gives are those in memory. An accessor that scales or conjugates them is excluded.
template <class X>
concept PlainAccess = !requires {
  typename X::reference;
}
|| std::same_as<typename X::reference, typename X::element_type&>;

} // namespace detail

/// A class with two dimensions, an extent and a step in elements for each, and a pointer to element (0, 0). If it has a
/// type `reference`, that is element_type&.
template <class X>
concept MdspanLike = detail::TwoDimensional<X> && detail::PlainAccess<X> && detail::Element<typename X::element_type> &&
    requires(const X& x, std::size_t dimension) {
  { x.extent(dimension) } -> std::convertible_to<Index>;
  { x.stride(dimension) } -> std::convertible_to<Index>;
  { x.data_handle() } -> std::convertible_to<typename X::element_type*>;
};

namespace detail {

template <MdspanLike X>
struct Adapted<X> {
  static constexpr const char* library = "mdspan";
  static constexpr bool owns = false;
  static auto steps(const X& x) {
    return Steps<typename X::element_type>{x.data_handle(), static_cast<Index>(x.extent(0)),
                                           static_cast<Index>(x.extent(1)), static_cast<Index>(x.stride(0)),
                                           static_cast<Index>(x.stride(1))};
  }
};

} // namespace detail

/// Copies the elements into a new matrix; any steps are allowed.
template <MdspanLike X>
Matrix<std::remove_const_t<typename X::element_type>> from_mdspan(const X& x) {
  return detail::copy_of_steps(detail::Adapted<X>::steps(x));
}

#if TESSERA_HAS_MDSPAN
/// An mdspan of two dimensions with any steps.
template <class T>
using MatrixMdspan = detail::md::mdspan<T, detail::md::dextents<Index, 2>, detail::md::layout_stride>;

/// Returns the host's elements of a matrix, a block or a transpose without a copy. The result is valid as long as the
/// matrix exists and is neither assigned to nor used on a device. If its elements can be written, the host's copy
/// becomes the newest one.
template <class T>
MatrixMdspan<T> as_mdspan(const MatrixView<T>& view) {
  using Mapping = typename MatrixMdspan<T>::mapping_type;
  using StepArray = decltype(Mapping().strides()); // std's, or the library's own
  const detail::Steps<T> x = detail::host_steps(view);
  return MatrixMdspan<T>(x.data,
                         Mapping(detail::md::dextents<Index, 2>(x.rows, x.cols), StepArray{x.row_step, x.col_step}));
}
/// Returns the host's elements of a matrix, to be written; its host copy becomes the newest one.
template <class T>
MatrixMdspan<T> as_mdspan(Matrix<T>& matrix) {
  return as_mdspan(matrix.writable());
}
/// Returns the host's elements of a matrix, read-only.
template <class T>
MatrixMdspan<const T> as_mdspan(const Matrix<T>& matrix) {
  return as_mdspan(matrix.view());
}
/// Is deleted, because the result would outlive its elements.
template <class T>
MatrixMdspan<const T> as_mdspan(const Matrix<T>&& matrix) = delete; // would outlive its elements
#endif

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
