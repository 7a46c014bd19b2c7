#pragma once

/// Matrices of elements that already lie in an executor's memory, such as a GPU's. tessera.hpp does not include this
/// header.
///
///     Executor& gpu = executor(Backend::Cuda);
///     const auto a = from_executor(gpu, device_a, n, n, lda);      // device_a: a double* of cudaMalloc(), say
///     const auto b = from_executor(gpu, device_b, n, count, ldb);
///     to_executor(solve(a, b, {.backend = Backend::Cuda}), gpu, device_x, ldx);
///     throw_if_failed(gpu.default_queue().synchronize());
///
/// Both functions copy within the executor's memory, in its default queue, and return before the copy is done: the
/// host's memory holds no element. Queue::start_after() and Queue::finish_before() order the queue with a stream of the
/// caller's. The memory may be of any allocator, as long as the executor's device can address it. Elements are
/// rows×cols of f32, f64 or 16-bit numbers, or of complex numbers of f32 or f64, row by row, and ld counts elements
/// from one row to the next; for column-major elements swap rows with cols and take the transpose.
///
/// Errors: InvalidArgument (sizes, ld, a null address), OutOfMemory, DeviceError.

#include <type_traits>

#include <tessera/executor.hpp>
#include <tessera/linear_algebra/complex_matrix.hpp>
#include <tessera/matrix.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {
namespace detail {

/// Elements in an executor's memory. The steps count elements, and may be any numbers, 0 and negative ones too.
struct ExecutorElements {
  const void* data = nullptr;
  Index row_step = 0;
  Index col_step = 1;
  bool is_complex = false; ///< an element is two parts, which are two columns of an operand
};

/// Enqueues a copy of the elements to Z, whose newest copy is in the executor's memory then.
TESSERA_API void copy_from_executor(Executor& executor, const ExecutorElements& from, const Operand& z);
/// Enqueues a copy of X, or of its transpose where X.op says so, to rows that are `ld` elements apart.
TESSERA_API void copy_to_executor(const Operand& x, Executor& executor, void* to, Index ld, bool is_complex = false);
/// Enqueues the writing of ones on Z's diagonal, and zeros elsewhere, in the executor's memory.
TESSERA_API void make_identity_on(Executor& executor, const Operand& z, bool is_complex = false);
/// Throws InvalidArgument where a function's rectangle in an executor's memory cannot be.
TESSERA_API void check_executor_memory(const char* function, Index rows, Index cols, const void* data, Index ld);

} // namespace detail

namespace detail {
/// Returns the n×n identity in the executor's memory.
template <class T>
Matrix<T> identity_on(Executor& executor, Index n) {
  auto matrix = Matrix<T>::uninitialized(n, n);
  make_identity_on(executor, matrix.operand(), Complex<T>);
  return matrix;
}
} // namespace detail

/// Returns a matrix of elements in the executor's memory. They must not change before the queue has copied them.
template <class T>
Matrix<std::remove_const_t<T>> from_executor(Executor& executor, T* data, Index rows, Index cols, Index ld) {
  detail::check_executor_memory("from_executor", rows, cols, data, ld);
  auto matrix = Matrix<std::remove_const_t<T>>::uninitialized(rows, cols);
  detail::copy_from_executor(executor, {data, ld, 1, detail::Complex<std::remove_const_t<T>>}, matrix.operand());
  return matrix;
}

/// Writes a matrix, or a view of one, to the executor's memory.
template <MatrixLike A>
void to_executor(const A& a, Executor& executor, typename A::value_type* data, Index ld) {
  detail::check_executor_memory("to_executor", a.rows(), a.cols(), data, ld);
  detail::copy_to_executor(a.view().operand(), executor, data, ld, detail::Complex<typename A::value_type>);
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
