#pragma once

/// The common part of the adaptors to other libraries' matrices. A program includes an adaptor: eigen.hpp, mdspan.hpp,
/// span.hpp or xtensor.hpp; each needs only its own library. All adaptors offer
///
///     view_of(x)                  // x's elements as a MatrixView: no copy
///     gemm(x, y, …)               // a new Matrix; operands may be of any library, or Tessera's own
///     gemm(alpha, x, y, beta, z)  // into z's memory, which has the result when the call returns
///     from_eigen(x), …            // a new Matrix with the elements; any steps are allowed
///     as_eigen(matrix), …         // a Matrix or a view as an object of the library: no copy
///
/// A view is row-major with a leading dimension, or the transpose of such a view. So one of the two steps between
/// elements must be 1, and the other at least the length of what it steps over. Column-major matrices, blocks,
/// transposes and single rows or columns with any step are accepted. Everything else (every second column, reversed or
/// broadcast elements) throws InvalidArgument, which names the steps, because nothing is copied unless the program asks
/// for it. The owner of the elements must keep them alive.

#include <concepts>
#include <string>
#include <type_traits>

#include <tessera/gemm.hpp>
#include <tessera/status.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {
namespace detail {

/// Elements in host memory as an adaptor describes them: `row_step` elements lie from row to row, `col_step` from
/// column to column.
template <class T>
struct Steps {
  T* data;
  Index rows;
  Index cols;
  Index row_step;
  Index col_step;
};
template <class T>
Steps(T*, Index, Index, Index, Index) -> Steps<T>;

/// An adaptor specialises this class for its types. It has `library` (a name for messages), `owns` (the elements end
/// with the object) and steps(x), which returns Steps of T or of const T as x allows.
template <class X>
struct Adapted;

template <class T>
concept Element = requires {
  DTypeOf<std::remove_const_t<T>>::value;
};

/// Returns the view of these elements. Throws InvalidArgument for steps that no view can have.
template <Element T>
MatrixView<T> view_of_steps(const char* library, const Steps<T>& x) {
  const bool empty = x.rows == 0 || x.cols == 0; // then steps may be anything
  if (empty || ((x.cols == 1 || x.col_step == 1) && (x.rows == 1 || x.row_step >= x.cols)))
    return MatrixView<T>::wrap(x.data, x.rows, x.cols, empty || x.rows == 1 ? x.cols : x.row_step);
  if ((x.rows == 1 || x.row_step == 1) && (x.cols == 1 || x.col_step >= x.rows))
    return MatrixView<T>::wrap(x.data, x.cols, x.rows, x.cols == 1 ? x.rows : x.col_step).transposed();
  throw InvalidArgument("view_of: the " + std::string(library) + " matrix of " + std::to_string(x.rows) + "×" +
                        std::to_string(x.cols) + " has " + std::to_string(x.row_step) +
                        " elements from row to row and " + std::to_string(x.col_step) +
                        " from column to column; one of them must be 1, the other at least the length of what it steps "
                        "over: copy it with from_" +
                        library);
}

/// Copies the elements into a new matrix; any steps are allowed.
template <class T>
Matrix<std::remove_const_t<T>> copy_of_steps(const Steps<T>& x) {
  auto copy = Matrix<std::remove_const_t<T>>::uninitialized(x.rows, x.cols);
  if (copy.empty()) return copy;
  auto* to = copy.data();
  for (Index i = 0; i < x.rows; ++i)
    for (Index j = 0; j < x.cols; ++j) to[i * copy.ld() + j] = x.data[i * x.row_step + j * x.col_step];
  return copy;
}

/// Returns the host's elements of a view. If they are not const, the host's copy becomes the newest one.
template <class T>
Steps<T> host_steps(const MatrixView<T>& view) {
  const Operand& x = view.operand();
  const bool flipped = x.op == Op::Transpose;
  const Index ld = x.storage->ld();
  T* data = view.rows() > 0 && view.cols() > 0 ? &view(0, 0) : nullptr;
  return {data, view.rows(), view.cols(), flipped ? 1 : ld, flipped ? ld : 1};
}

} // namespace detail

/// A matrix of another library, with elements in host memory, whose adaptor is included.
template <class X>
concept ForeignMatrix = requires(X& x) {
  { detail::Adapted<std::remove_cv_t<X>>::owns } -> std::convertible_to<bool>;
  detail::Adapted<std::remove_cv_t<X>>::steps(x);
};

/// Returns a view of the elements of x without a copy: MatrixView<T>, or MatrixView<const T> if x is read-only. The
/// view is valid as long as x's elements stay where they are. Throws InvalidArgument for steps that no view can have.
template <class X>
requires ForeignMatrix<std::remove_reference_t<X>> &&
    (std::is_lvalue_reference_v<X> || !detail::Adapted<std::remove_cvref_t<X>>::owns) // would outlive its elements
    auto view_of(X&& x) {
  using Adapted = detail::Adapted<std::remove_cvref_t<X>>;
  return detail::view_of_steps(Adapted::library, Adapted::steps(x));
}

namespace detail {

template <class X>
concept Readable = MatrixLike<X> || ForeignMatrix<const X>;

template <MatrixLike X>
auto readable(const X& x) {
  return x.view();
}
template <ForeignMatrix X>
auto readable(const X& x) {
  return view_of(x).view();
}

/// The element type of a matrix, Tessera's or another library's.
template <Readable X>
using ElementOf = typename decltype(readable(std::declval<const X&>()))::value_type;

} // namespace detail

/// Returns A·B as a new matrix, where A, B or both are matrices of another library. Throws the errors of gemm() and of
/// view_of().
template <detail::Readable A, detail::Readable B>
requires(!MatrixLike<A> || !MatrixLike<B>) auto gemm(const A& a, const B& b, const GemmOptions& options) {
  return gemm(detail::readable(a), detail::readable(b), options);
}
/// Returns A·B as a new matrix, computed by this backend with the other options' defaults.
template <detail::Readable A, detail::Readable B>
requires(!MatrixLike<A> || !MatrixLike<B>) auto gemm(const A& a, const B& b, Backend backend = Backend::Auto) {
  return gemm(detail::readable(a), detail::readable(b), GemmOptions{.backend = backend});
}
/// Computes C := alpha·A·B + beta·C, where A, B or C is another library's matrix; C is complete on return if it is.
template <detail::Readable A, detail::Readable B, class C>
requires(!MatrixLike<A> || !MatrixLike<B> ||
         ForeignMatrix<std::remove_reference_t<C>>) void gemm(Scalar<detail::ElementOf<A>> alpha, const A& a,
                                                              const B& b, Scalar<detail::ElementOf<A>> beta, C&& c,
                                                              const GemmOptions& options = {}) {
  if constexpr (ForeignMatrix<std::remove_reference_t<C>>) {
    auto target = view_of(c);
    static_assert(
        requires { target.writable(); }, "gemm: c's elements are const");
    gemm(alpha, detail::readable(a), detail::readable(b), beta, target, options);
  } else {
    gemm(alpha, detail::readable(a), detail::readable(b), beta, std::forward<C>(c), options);
  }
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
