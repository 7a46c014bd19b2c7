#pragma once

/// Matrix<T>: a dense row-major matrix that knows whether its newest copy is on the host or on a device.
///
///     Matrix a = Matrix<float>::random(512, 512, Seed{1});
///     Matrix b = Matrix<float>::identity(512);
///     Matrix c = gemm(a, b, Backend::OpenMP);
///     float x = std::as_const(c)(0, 0);
///
/// A matrix has value semantics: a copy copies the elements, a move is cheap. A product stays on the device that
/// computed it until the host reads it, which copies it once; operands that are already on a device are not copied
/// again. Access through a non-const matrix makes the host's copy the newest one, so read through a const reference (or
/// std::as_const, or at()) where the device's copy should stay valid.
///
/// Elements are float, double, f16 or bf16. For the 16-bit types single values (to fill with, to scale by) are floats,
/// operations compute in float and round each element once. Reductions are in double for all types. The caller's
/// floating-point state changes no result; see docs/contract.md.
///
/// Several threads may read one matrix at once; writing needs the caller's own synchronisation. Sizes count elements.
/// Errors: InvalidArgument names the sizes, OutOfMemory the bytes.

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/storage.hpp>
#include <tessera/executor.hpp>
#include <tessera/half.hpp>
#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// The seed of a random matrix, apart from numbers that are sizes.
struct Seed {
  std::uint64_t value = 0; ///< the key of the generator
};

template <class T>
class Matrix;

/// A rectangle of a matrix, or its transpose. It shares the matrix's elements and keeps them alive. A view of const T
/// is read-only.
template <class T>
class MatrixView {
 public:
  /// The type of the elements, without const.
  using value_type = std::remove_const_t<T>;

  /// Makes a view of an operand of the library; programs call view(), block() and transposed() of a matrix.
  MatrixView(detail::Operand operand) : operand_(std::move(operand)) {}
  /// A writable view reads as well.
  operator MatrixView<const value_type>() const { return MatrixView<const value_type>(operand_); }

  /// Returns a view of elements of the caller, rows×cols with `ld` elements from row to row. The caller must keep them
  /// alive.
  static MatrixView wrap(T* data, Index rows, Index cols, Index ld) {
    return MatrixView(detail::wrap_host(const_cast<value_type*>(data), rows, cols, ld, dtype_of<value_type>));
  }

  /// Returns the number of rows.
  Index rows() const noexcept { return operand_.op == Op::None ? operand_.rows : operand_.cols; }
  /// Returns the number of columns.
  Index cols() const noexcept { return operand_.op == Op::None ? operand_.cols : operand_.rows; }

  /// Returns a view of the transpose. Nothing is copied.
  MatrixView transposed() const {
    detail::Operand flipped = operand_;
    flipped.op = flipped.op == Op::None ? Op::Transpose : Op::None;
    return MatrixView(flipped);
  }
  /// Returns a view of rows×cols elements from (row, col) on. Throws InvalidArgument if they do not lie within this
  /// view.
  MatrixView block(Index row, Index col, Index rows, Index cols) const {
    return MatrixView(detail::block_of(operand_, row, col, rows, cols));
  }

  /// Returns element (i, j), which is not checked. If T is not const, the host's copy becomes the newest one.
  T& operator()(Index i, Index j) const {
    if (operand_.op == Op::Transpose) std::swap(i, j);
    if constexpr (std::is_const_v<T>) {
      auto* data = static_cast<const value_type*>(operand_.storage->host_read());
      return data[(operand_.row + i) * operand_.storage->ld() + operand_.col + j];
    } else {
      auto* data = static_cast<value_type*>(operand_.storage->host_write());
      return data[(operand_.row + i) * operand_.storage->ld() + operand_.col + j];
    }
  }

  /// Copies the other view's elements into this one. Throws InvalidArgument if the shapes differ.
  void assign(MatrixView<const value_type> other) const requires(!std::is_const_v<T>) {
    detail::copy(other.operand(), operand_);
  }

  /// Returns a read-only view of the same elements.
  MatrixView<const value_type> view() const { return MatrixView<const value_type>(operand_); }
  /// Returns this view, whose elements can be written.
  MatrixView writable() const requires(!std::is_const_v<T>) { return *this; }
  /// Returns what the library's functions take.
  const detail::Operand& operand() const noexcept { return operand_; }

 private:
  detail::Operand operand_;
};

namespace detail {
/// A row in braces, for Matrix's constructor. It is a class of its own because clang ranks all initializer_lists of
/// numbers alike where it deduces Matrix{{1.0, 2.0}}, and would take float, the default, where the numbers are doubles.
template <class S>
struct RowOfNumbers {
  RowOfNumbers(std::initializer_list<S> row) : numbers(row) {}
  std::initializer_list<S> numbers;
};
} // namespace detail

/// Anything that a product or an element-wise operation reads: a Matrix or a MatrixView.
template <class M>
concept MatrixLike = requires(const M& m) {
  typename M::value_type;
  { m.view() } -> std::same_as<MatrixView<const typename M::value_type>>;
};

/// A dense row-major matrix of T; the comment of this header describes it.
template <class T = float>
class Matrix {
 public:
  /// The type of the elements.
  using value_type = T;

  /// Makes an empty matrix, 0×0.
  Matrix() noexcept = default;
  /// Fills the matrix with zeros.
  Matrix(Index rows, Index cols) : Matrix(rows, cols, Scalar<T>{0}) {}
  /// Fills the matrix with `value`.
  Matrix(Index rows, Index cols, Scalar<T> value) : storage_(detail::create_storage(rows, cols, dtype_of<T>)) {
    fill(value);
  }
  /// Takes the elements row by row: Matrix<double>{{1, 2}, {3, 4}}. Throws InvalidArgument if rows differ in length.
  Matrix(std::initializer_list<detail::RowOfNumbers<Scalar<T>>> rows)
      : Matrix(uninitialized(static_cast<Index>(rows.size()),
                             rows.size() == 0 ? 0 : static_cast<Index>(rows.begin()->numbers.size()))) {
    Index i = 0;
    for (const auto& row : rows) {
      detail::check_row_length(i, static_cast<Index>(row.numbers.size()), cols());
      Index j = 0;
      for (const Scalar<T>& value : row.numbers) (*this)(i, j++) = static_cast<T>(value);
      ++i;
    }
  }
  /// Copies the elements of a view.
  explicit Matrix(MatrixView<const T> view) : Matrix(uninitialized(view.rows(), view.cols())) {
    detail::copy(view.operand(), operand());
  }

  /// Copies the elements, on the device that holds the newest copy.
  Matrix(const Matrix& other) : Matrix(other.view()) {}
  /// Copies the elements into new memory. If that fails, this matrix stays as it was.
  Matrix& operator=(const Matrix& other) {
    if (this != &other) *this = Matrix(other);
    return *this;
  }
  /// Leaves the other matrix 0×0.
  Matrix(Matrix&& other) noexcept = default;
  /// Takes the other matrix's elements and leaves it 0×0.
  Matrix& operator=(Matrix&& other) noexcept = default;
  /// Frees the elements, unless a view still keeps them alive.
  ~Matrix() = default;

  /// Returns a matrix whose elements are undefined, for results that are written next.
  static Matrix uninitialized(Index rows, Index cols) {
    return Matrix(detail::create_storage(rows, cols, dtype_of<T>));
  }
  /// Returns a matrix whose elements are undefined, and whose host memory is pinned (page-locked) for the executor,
  /// which must outlive it: copies in a queue need not wait for the host (queue.hpp). For an executor in host memory it
  /// is ordinary memory. Throws OutOfMemory; the system has less of such memory than of other memory.
  static Matrix pinned(Index rows, Index cols, Executor& executor) {
    return Matrix(detail::create_pinned_storage(rows, cols, dtype_of<T>, executor));
  }
  /// Returns the n×n matrix with ones on the diagonal and zeros elsewhere.
  static Matrix identity(Index n) {
    Matrix m = uninitialized(n, n);
    detail::identity(m.operand());
    return m;
  }
  /// Returns a matrix of numbers uniform in [low, high), with the same bits on every backend. 16-bit elements are the
  /// rounded elements of a float matrix; where rounding leaves the range, the next number within it. If low equals
  /// high, every element is low. Throws InvalidArgument if low is above high, if a limit is not finite or beyond T's
  /// range, or if no number of T lies in the range.
  static Matrix random(Index rows, Index cols, Seed seed, Scalar<T> low = -1, Scalar<T> high = 1) {
    return random(rows, cols, seed, Distribution::Uniform, low, high);
  }
  /// Returns a matrix of random numbers; Distribution says what low and high mean.
  static Matrix random(Index rows, Index cols, Seed seed, Distribution distribution, Scalar<T> low, Scalar<T> high) {
    Matrix m = uninitialized(rows, cols);
    detail::random(m.operand(), distribution, seed.value, detail::exact_double(low), detail::exact_double(high));
    return m;
  }

  /// Returns the number of rows.
  Index rows() const noexcept { return storage_ ? storage_->rows() : 0; }
  /// Returns the number of columns.
  Index cols() const noexcept { return storage_ ? storage_->cols() : 0; }
  /// Returns the number of elements.
  Index size() const noexcept { return rows() * cols(); }
  /// Is there no element?
  bool empty() const noexcept { return size() == 0; }
  /// Returns the number of elements from one row to the next in host memory: cols() rounded up to whole cache lines.
  Index ld() const noexcept { return storage_ ? storage_->ld() : 0; }

  /// Returns element (i, j), which is not checked. The non-const forms of operator(), data() and row() make the host's
  /// copy the newest one.
  const T& operator()(Index i, Index j) const { return data()[i * ld() + j]; }
  /// Returns element (i, j), which is not checked, to be written.
  T& operator()(Index i, Index j) { return data()[i * ld() + j]; }
  /// Returns element (i, j). Throws InvalidArgument if there is none.
  T at(Index i, Index j) const {
    detail::check_index(i, j, rows(), cols());
    return (*this)(i, j);
  }
  /// Returns the host's elements: element (i, j) is data()[i * ld() + j]. Null for a matrix that was made empty.
  const T* data() const { return storage_ ? static_cast<const T*>(storage_->host_read()) : nullptr; }
  /// Returns the host's elements, to be written.
  T* data() { return storage_ ? static_cast<T*>(storage_->host_write()) : nullptr; }
  /// Returns the host's elements of row i, which is not checked.
  std::span<const T> row(Index i) const { return {data() + i * ld(), static_cast<std::size_t>(cols())}; }
  /// Returns the host's elements of row i, which is not checked, to be written.
  std::span<T> row(Index i) { return {data() + i * ld(), static_cast<std::size_t>(cols())}; }

  /// Returns a read-only view of all elements.
  MatrixView<const T> view() const { return MatrixView<const T>(operand()); }
  /// Returns a view of all elements that can be written.
  MatrixView<T> writable() { return MatrixView<T>(operand()); }
  /// Returns a read-only view of the transpose. Nothing is copied.
  MatrixView<const T> transposed() const { return view().transposed(); }
  /// Returns a view of the transpose that can be written. Nothing is copied.
  MatrixView<T> transposed() { return writable().transposed(); }
  /// Returns a read-only view of rows×cols elements from (row, col) on. Throws InvalidArgument if they do not lie
  /// within the matrix.
  MatrixView<const T> block(Index row, Index col, Index rows, Index cols) const {
    return view().block(row, col, rows, cols);
  }
  /// Returns a view of rows×cols elements from (row, col) on that can be written. Throws InvalidArgument if they do not
  /// lie within the matrix.
  MatrixView<T> block(Index row, Index col, Index rows, Index cols) { return writable().block(row, col, rows, cols); }

  /// Sets every element to `value`, where the newest copy is.
  void fill(Scalar<T> value) { detail::fill(operand(), detail::exact_double(value)); }

  /// Returns the sum of all x². Reductions are computed in double precision, on the device that holds the newest copy.
  double sum_of_squares() const { return detail::reduce(operand(), ReduceOp::SumOfSquares); }
  /// Returns the Frobenius norm, the square root of sum_of_squares().
  double norm_frobenius() const { return detail::norm_frobenius(operand()); }
  /// Returns the largest |x|.
  double norm_max() const { return detail::reduce(operand(), ReduceOp::MaxAbs); }
  /// Returns the sum of all |x|.
  double norm_sum() const { return detail::reduce(operand(), ReduceOp::SumAbs); }
  double norm_one() const { return detail::norm_one(operand()); } ///< largest column sum of |x|; on the host
  double norm_inf() const { return detail::norm_inf(operand()); } ///< largest row sum of |x|; on the host

  /// Returns the executor of the device that has the newest copy; null if the host has it.
  Executor* newest_on() const noexcept { return storage_ ? storage_->newest_on() : nullptr; }
  /// Returns what the library's functions take.
  detail::Operand operand() const {
    return {storage_ ? storage_ : detail::create_storage(0, 0, dtype_of<T>), 0, 0, rows(), cols(), Op::None};
  }

 private:
  explicit Matrix(std::shared_ptr<detail::Storage> storage) : storage_(std::move(storage)) {}
  std::shared_ptr<detail::Storage> storage_; ///< null: 0×0
};

/// A matrix that is made of a view has the view's element type.
template <class T>
Matrix(MatrixView<T>) -> Matrix<std::remove_const_t<T>>;
/// A matrix that is filled with a number has the number's type.
template <class T>
Matrix(Index, Index, T) -> Matrix<T>;
/// A matrix of numbers in braces has the numbers' type.
template <class T>
Matrix(std::initializer_list<std::initializer_list<T>>) -> Matrix<T>;

/// Returns a + b as a new matrix. If the shapes differ, InvalidArgument names both. The result is computed on the
/// device that holds the newest copy of the left operand.
template <MatrixLike A, MatrixLike B>
requires std::same_as<typename A::value_type, typename B::value_type> Matrix<typename A::value_type>
operator+(const A& a, const B& b) {
  auto c = Matrix<typename A::value_type>::uninitialized(a.rows(), a.cols());
  detail::axpby(1.0, a.view().operand(), 1.0, b.view().operand(), c.operand());
  return c;
}
/// Returns a − b as a new matrix. If the shapes differ, InvalidArgument names both.
template <MatrixLike A, MatrixLike B>
requires std::same_as<typename A::value_type, typename B::value_type> Matrix<typename A::value_type>
operator-(const A& a, const B& b) {
  auto c = Matrix<typename A::value_type>::uninitialized(a.rows(), a.cols());
  detail::axpby(1.0, a.view().operand(), -1.0, b.view().operand(), c.operand());
  return c;
}
/// Returns alpha·a as a new matrix.
template <MatrixLike A>
Matrix<typename A::value_type> operator*(Scalar<typename A::value_type> alpha, const A& a) {
  auto c = Matrix<typename A::value_type>::uninitialized(a.rows(), a.cols());
  detail::scale(detail::exact_double(alpha), a.view().operand(), c.operand());
  return c;
}
/// Returns a·alpha as a new matrix.
template <MatrixLike A>
Matrix<typename A::value_type> operator*(const A& a, Scalar<typename A::value_type> alpha) {
  return alpha * a;
}
/// Returns −a as a new matrix.
template <MatrixLike A>
Matrix<typename A::value_type> operator-(const A& a) {
  return Scalar<typename A::value_type>{-1} * a;
}
/// Returns the product element by element (Hadamard); for the matrix product see gemm.hpp.
template <MatrixLike A, MatrixLike B>
requires std::same_as<typename A::value_type, typename B::value_type> Matrix<typename A::value_type> hadamard(
    const A& a, const B& b) {
  auto c = Matrix<typename A::value_type>::uninitialized(a.rows(), a.cols());
  detail::multiply(a.view().operand(), b.view().operand(), c.operand());
  return c;
}
/// Returns the transpose as a new matrix; x.transposed() is a view.
template <MatrixLike A>
Matrix<typename A::value_type> transpose(const A& a) {
  return Matrix<typename A::value_type>(a.view().transposed());
}
/// Converts the elements to another type where the newest copy is, and rounds each to nearest at most once:
/// Matrix<float> x = matrix_cast<float>(h).
template <class T, MatrixLike A>
Matrix<T> matrix_cast(const A& a) {
  auto c = Matrix<T>::uninitialized(a.rows(), a.cols());
  detail::copy(a.view().operand(), c.operand());
  return c;
}
/// Are the shapes equal, and the elements? NaN is unequal to itself.
template <MatrixLike A, MatrixLike B>
requires std::same_as<typename A::value_type, typename B::value_type>
bool operator==(const A& a, const B& b) { return detail::equal(a.view().operand(), b.view().operand()); }
/// Prints at most eight rows and columns; the middle of a larger matrix is left out. The stream's locale and precision
/// hold, as for other numbers; the caller's floating-point state does not.
template <MatrixLike A>
std::ostream& operator<<(std::ostream& out, const A& a) {
  return detail::print(out, a.view().operand());
}

/// Returns Σx² of numbers in host memory, exactly (whole numbers are no element type of matrices): a result is never
/// wrapped and never rounded. It is equal on every backend and with any number of threads.
///
/// Throws InvalidArgument where the sum is 2⁶³ or more, which std::int64_t does not hold. Up to 2³² numbers below 46341
/// in magnitude never get there; of −2³¹ two do. Backend::Auto stays on the host, since a copy to a GPU costs more
/// than the sum. Throws BackendUnavailable where a named backend cannot be used, KernelRejected where
/// it has no kernel for whole numbers, and OutOfMemory. No numbers: 0.
///
/// Cost: each number is read once; a backend whose memory is not the host's gets a copy first. The operation is the
/// CUDA course's, whose rungs `gemm_compare --op sum_of_squares --dtype i32` races.
TESSERA_API std::int64_t sum_of_squares(std::span<const std::int32_t> numbers, Backend backend = Backend::Auto);

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
