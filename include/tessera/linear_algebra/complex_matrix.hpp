#pragma once

/// Matrix<std::complex<float>> and Matrix<std::complex<double>>: what linear algebra takes and returns.
///
///     Matrix<std::complex<double>> a(3, 3);       // zeros
///     a(0, 1) = {2, -1};
///     Matrix x = solve(a, b);                     // solve.hpp
///     Matrix h = conjugate_transpose(a), c = gemm(h, a);
///
/// They have of Matrix what this header shows: elements, rows, blocks and transposes, and products. Factors, solutions
/// and products stay on the device that computed them until the host reads them; copies of matrices and views, also
/// transposed and conjugated ones, are made where the newest elements are. Rows are padded as a real matrix's are.
/// Sizes and leading dimensions count complex numbers. Errors: InvalidArgument names the sizes, OutOfMemory the bytes.

#include <algorithm>
#include <complex>
#include <limits>
#include <string>

#include <tessera/complex.hpp>
#include <tessera/linear_algebra/options.hpp>
#include <tessera/matrix.hpp>
#include <tessera/status.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {
namespace detail {

/// Z = Xᵀ, or Xᴴ, of complex numbers, where X's newest elements are. Operands have the parts as columns, and their ops
/// are not looked at.
TESSERA_API void turn_complex(const Operand& x, const Operand& z, bool conjugates);
/// C = op(A)·op(B) of complex numbers, on the executor that the options name or that an operand is on. C is not
/// transposed.
TESSERA_API void gemm_complex(const Operand& a, const Operand& b, const Operand& c, const GemmOptions& options);

} // namespace detail

/// @cond complex_matrix

/// A rectangle of a complex matrix, or its transpose. It shares the matrix's elements and keeps them alive, or is one
/// of the caller's memory. A view of const T is read-only.
template <class T>
requires detail::Complex<std::remove_const_t<T>>
class MatrixView<T> {
 public:
  /// The type of the elements, without const.
  using value_type = std::remove_const_t<T>;

  /// Makes a view of the parts of complex numbers; programs call wrap(), and view() of a matrix.
  explicit MatrixView(detail::Operand parts) : parts_(std::move(parts)) {}
  /// A writable view reads as well.
  operator MatrixView<const value_type>() const requires(!std::is_const_v<T>) {
    return MatrixView<const value_type>(parts_);
  }

  /// Returns a view of elements of the caller, rows×cols with `ld` elements from row to row. The caller must keep them
  /// alive.
  static MatrixView wrap(T* data, Index rows, Index cols, Index ld) {
    constexpr Index most = std::numeric_limits<Index>::max() / static_cast<Index>(sizeof(T));
    if (rows < 0 || cols < 0 || (rows > 1 && ld < cols) || std::max(ld, cols) > most)
      throw InvalidArgument("a view of complex numbers is " + std::to_string(rows) + "×" + std::to_string(cols) +
                            " with ld = " + std::to_string(ld) +
                            "; sizes must not be negative or beyond the address space, and a row must fit into ld");
    return MatrixView(detail::wrap_host(const_cast<value_type*>(data), rows, 2 * cols, 2 * std::max(ld, cols),
                                        dtype_of<typename value_type::value_type>));
  }

  /// Returns the number of rows.
  Index rows() const noexcept { return is_transposed() ? parts_.cols / 2 : parts_.rows; }
  /// Returns the number of columns.
  Index cols() const noexcept { return is_transposed() ? parts_.rows : parts_.cols / 2; }
  /// Does the memory hold the transpose, row by row?
  bool is_transposed() const noexcept { return parts_.op == Op::Transpose; }
  /// Returns the first element in host memory, to which the newest elements are copied first. If T is not const, the
  /// host's copy becomes the newest one.
  T* data() const {
    const Index first = parts_.row * parts_.storage->ld() + parts_.col;
    if constexpr (std::is_const_v<T>)
      return static_cast<T*>(parts_.storage->host_read()) + first / 2;
    else
      return static_cast<T*>(parts_.storage->host_write()) + first / 2;
  }
  /// Returns the number of elements from one row in memory to the next.
  Index ld() const noexcept { return parts_.storage->ld() / 2; }

  /// Returns a view of the transpose, which is not conjugated. Nothing is copied.
  MatrixView transposed() const {
    detail::Operand flipped = parts_;
    flipped.op = is_transposed() ? Op::None : Op::Transpose;
    return MatrixView(std::move(flipped));
  }
  /// Returns a view of rows×cols elements from (row, col) on. Throws InvalidArgument if they do not lie within this
  /// view.
  MatrixView block(Index row, Index col, Index rows, Index cols) const {
    if (row < 0 || col < 0 || rows < 0 || cols < 0 || row > this->rows() - rows || col > this->cols() - cols)
      throw InvalidArgument("block " + std::to_string(rows) + "×" + std::to_string(cols) + " at (" +
                            std::to_string(row) + ", " + std::to_string(col) + ") does not lie within " +
                            std::to_string(this->rows()) + "×" + std::to_string(this->cols()));
    if (is_transposed()) {
      std::swap(row, col);
      std::swap(rows, cols);
    }
    return MatrixView({parts_.storage, parts_.row + row, parts_.col + 2 * col, rows, 2 * cols, parts_.op});
  }

  /// Returns element (i, j), which is not checked. If T is not const, the host's copy becomes the newest one.
  T& operator()(Index i, Index j) const { return is_transposed() ? data()[j * ld() + i] : data()[i * ld() + j]; }

  /// Returns a read-only view of the same elements.
  MatrixView<const value_type> view() const { return MatrixView<const value_type>(parts_); }
  /// Returns what the library's functions take: the parts of all numbers, as a real matrix of twice as many columns.
  const detail::Operand& operand() const noexcept { return parts_; }

 private:
  detail::Operand parts_;
};

/// A dense row-major matrix of complex numbers; the comment of this header describes it.
template <class T>
requires detail::Complex<T>
class Matrix<T> {
 public:
  /// The type of the elements.
  using value_type = T;
  /// The type of their parts.
  using Part = typename T::value_type;

  /// Makes an empty matrix, 0×0.
  Matrix() noexcept = default;
  /// Fills the matrix with `value`.
  Matrix(Index rows, Index cols, T value = 0) : Matrix(uninitialized(rows, cols)) { fill(value); }
  /// Takes the elements row by row. Throws InvalidArgument if rows differ in length.
  Matrix(std::initializer_list<detail::RowOfNumbers<T>> rows)
      : Matrix(uninitialized(static_cast<Index>(rows.size()),
                             rows.size() == 0 ? 0 : static_cast<Index>(rows.begin()->numbers.size()))) {
    Index i = 0;
    for (const auto& row : rows) {
      detail::check_row_length(i, static_cast<Index>(row.numbers.size()), cols());
      std::ranges::copy(row.numbers, this->row(i++).begin());
    }
  }
  /// Copies the elements of a view.
  explicit Matrix(MatrixView<const T> view) : Matrix(uninitialized(view.rows(), view.cols())) {
    if (empty()) return;
    if (view.is_transposed())
      detail::turn_complex(view.operand(), operand(), false);
    else
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
    if (rows < 0 || cols < 0)
      throw InvalidArgument("a matrix of complex numbers is " + std::to_string(rows) + "×" + std::to_string(cols) +
                            "; sizes must not be negative");
    constexpr Index most = std::numeric_limits<Index>::max() / static_cast<Index>(sizeof(T));
    if (cols > most || (cols > 0 && rows > most / cols)) // said here, because storage counts parts
      throw InvalidArgument("a matrix of complex numbers is " + std::to_string(rows) + "×" + std::to_string(cols) +
                            "; its elements overflow the address space");
    Matrix m;
    m.storage_ = detail::create_storage(rows, 2 * cols, dtype_of<Part>);
    return m;
  }
  /// Returns the n×n matrix with ones on the diagonal and zeros elsewhere.
  static Matrix identity(Index n) {
    Matrix m(n, n);
    for (Index i = 0; i < n; ++i) m(i, i) = 1;
    return m;
  }
  /// Returns a matrix whose parts, each number's real one first, are the elements of Matrix<Part>::random(rows,
  /// 2·cols).
  static Matrix random(Index rows, Index cols, Seed seed, Part low = -1, Part high = 1) {
    return random(rows, cols, seed, Distribution::Uniform, low, high);
  }
  /// Returns a matrix of random parts; Distribution says what low and high mean.
  static Matrix random(Index rows, Index cols, Seed seed, Distribution distribution, Part low, Part high) {
    Matrix m = uninitialized(rows, cols);
    detail::random(m.operand(), distribution, seed.value, detail::exact_double(low), detail::exact_double(high));
    return m;
  }

  /// Returns the number of rows.
  Index rows() const noexcept { return storage_ ? storage_->rows() : 0; }
  /// Returns the number of columns.
  Index cols() const noexcept { return storage_ ? storage_->cols() / 2 : 0; }
  /// Returns the number of elements.
  Index size() const noexcept { return rows() * cols(); }
  /// Is there no element?
  bool empty() const noexcept { return size() == 0; }
  /// Returns the number of elements from one row to the next in host memory.
  Index ld() const noexcept { return storage_ ? storage_->ld() / 2 : 0; }

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
  /// Returns the elements of row i, which is not checked.
  std::span<const T> row(Index i) const { return {data() + i * ld(), static_cast<std::size_t>(cols())}; }
  /// Returns the elements of row i, which is not checked, to be written.
  std::span<T> row(Index i) { return {data() + i * ld(), static_cast<std::size_t>(cols())}; }

  /// Returns a read-only view of all elements.
  MatrixView<const T> view() const { return MatrixView<const T>(operand()); }
  /// Returns a view of all elements that can be written.
  MatrixView<T> writable() { return MatrixView<T>(operand()); }
  /// Returns a read-only view of the transpose, which is not conjugated. Nothing is copied.
  MatrixView<const T> transposed() const { return view().transposed(); }
  /// Returns a read-only view of rows×cols elements from (row, col) on. Throws InvalidArgument if they do not lie
  /// within the matrix.
  MatrixView<const T> block(Index row, Index col, Index rows, Index cols) const {
    return view().block(row, col, rows, cols);
  }

  /// Sets every element to `value`.
  void fill(T value) {
    for (Index i = 0; i < rows(); ++i) std::ranges::fill(row(i), value);
  }

  /// Returns the executor of the device that has the newest copy; null if the host has it.
  Executor* newest_on() const noexcept { return storage_ ? storage_->newest_on() : nullptr; }
  /// Returns what the library's functions take: the parts of all numbers, as a real matrix of twice as many columns.
  detail::Operand operand() const {
    return {storage_ ? storage_ : detail::create_storage(0, 0, dtype_of<Part>), 0, 0, rows(), 2 * cols(), Op::None};
  }

 private:
  std::shared_ptr<detail::Storage> storage_; ///< of the parts; null: 0×0
};

/// @endcond

/// Returns Aᴴ as a new matrix: the transpose, whose elements are conjugated where they are complex.
template <MatrixLike A>
Matrix<typename A::value_type> conjugate_transpose(const A& a) {
  using T = typename A::value_type;
  if constexpr (detail::Complex<T>) {
    const MatrixView<const T> view = a.view(), stored = view.is_transposed() ? view.transposed() : view;
    auto result = Matrix<T>::uninitialized(stored.cols(), stored.rows());
    if (!result.empty()) detail::turn_complex(stored.operand(), result.operand(), true);
    return view.is_transposed() ? Matrix<T>(result.transposed()) : result;
  } else {
    return Matrix<T>(a.view().transposed());
  }
}

/// @cond complex_matrix

/// Returns A·B as a new matrix of complex numbers, m×n, as complex.hpp computes it.
template <class R, MatrixLike A, MatrixLike B>
requires detail::Complex<R> && std::same_as<typename A::value_type, R> Matrix<R> gemm(const A& a, const B& b,
                                                                                      const GemmOptions& options) {
  static_assert(std::same_as<typename A::value_type, typename B::value_type>, "gemm: a and b differ in element type");
  detail::check_inner(a.rows(), a.cols(), b.rows(), b.cols());
  if (a.rows() == 0 || b.cols() == 0 || a.cols() == 0) return Matrix<R>(a.rows(), b.cols());
  auto c = Matrix<R>::uninitialized(a.rows(), b.cols());
  detail::gemm_complex(a.view().operand(), b.view().operand(), c.operand(), options);
  return c;
}

/// @endcond

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
