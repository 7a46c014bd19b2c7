#pragma once

/// Makes the views of a functor: read(), write() and update() of a matrix, a block, a transpose or the caller's memory.
///
/// A matrix stays coherent: what is not current in the executor's memory is copied there, and after write() and
/// update() the executor's copy is the newest one. A view owns nothing; the matrix must live until the work is done.
/// Until then the view is valid, also where a device lacks memory for other matrices; but it ends when the host writes
/// the matrix, and when the matrix is written, or another view of it is made, on another executor.
/// Views are made for the executor's default queue. Errors: InvalidArgument names sizes; OutOfMemory and DeviceError
/// come from copies.

#include <type_traits>

#include <tessera/matrix.hpp>
#include <tessera/user_kernel/view.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

namespace detail {

/// Elements that a view is made of, in an executor's memory.
struct PlacedView {
  const void* data;
  Index rows;
  Index cols;
  Index row_stride;
  Index col_stride;
  Backend backend;
};
TESSERA_API PlacedView place_view(const Operand& operand, Executor& executor, Access access);
TESSERA_API PlacedView memory_view(const void* data, Index rows, Index cols, Index ld, Executor& executor);

template <class V>
V make_view(const PlacedView& at) {
  return V(at.data, at.rows, at.cols, at.row_stride, at.col_stride, at.backend);
}

} // namespace detail

/// Returns a view of a matrix, block or transpose for functors that read it on this executor. Elements that are not
/// current in the executor's memory are copied there.
template <MatrixLike M>
In<typename M::value_type> read(const M& matrix, Executor& executor) {
  using T = typename M::value_type;
  return detail::make_view<In<T>>(detail::place_view(matrix.view().operand(), executor, detail::Access::In));
}
/// Returns a view for functors that write every element and read none. The executor's copy is the newest one from now
/// on, and the old elements of a whole matrix are lost, even if the functor does not run.
template <class T>
requires(!std::is_const_v<T>) Out<T> write(const MatrixView<T>& matrix, Executor& executor) {
  return detail::make_view<Out<T>>(detail::place_view(matrix.operand(), executor, detail::Access::Out));
}
/// Returns a view of a whole matrix for functors that write every element and read none.
template <class T>
Out<T> write(Matrix<T>& matrix, Executor& executor) {
  return write(matrix.writable(), executor);
}
/// Returns a view for functors that read and write. The executor's copy is the newest one from now on.
template <class T>
requires(!std::is_const_v<T>) InOut<T> update(const MatrixView<T>& matrix, Executor& executor) {
  return detail::make_view<InOut<T>>(detail::place_view(matrix.operand(), executor, detail::Access::InOut));
}
/// Returns a view of a whole matrix for functors that read and write.
template <class T>
InOut<T> update(Matrix<T>& matrix, Executor& executor) {
  return update(matrix.writable(), executor);
}

/// Returns a view of the caller's memory, which the executor must reach: host memory for an executor of the processor,
/// device memory (Executor::allocate()) for a device. Rows begin `ld` elements apart. For host memory on a device, wrap
/// it: read(MatrixView<T>::wrap(…), executor).
template <class T>
In<T> read(const T* data, Index rows, Index cols, Index ld, Executor& executor) {
  return detail::make_view<In<T>>(detail::memory_view(data, rows, cols, ld, executor));
}
/// Returns a view of the caller's memory for functors that write it; see read().
template <class T>
Out<T> write(T* data, Index rows, Index cols, Index ld, Executor& executor) {
  return detail::make_view<Out<T>>(detail::memory_view(data, rows, cols, ld, executor));
}
/// Returns a view of the caller's memory for functors that read and write it; see read().
template <class T>
InOut<T> update(T* data, Index rows, Index cols, Index ld, Executor& executor) {
  return detail::make_view<InOut<T>>(detail::memory_view(data, rows, cols, ld, executor));
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
