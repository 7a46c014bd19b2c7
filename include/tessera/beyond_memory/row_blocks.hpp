#pragma once

/// Products of matrices that lie on several executors, such as the GPUs of a machine, and stay there.
///
///     std::vector<Executor*> gpus{&executor(Backend::Cuda, 0), &executor(Backend::Cuda, 1)};
///     RowBlocks<float> a(gpus, m, k), b(gpus, k, n), c(gpus, m, n);
///     a.assign(whole_a);                          // or fill a.block(0), a.block(1), which are matrices
///     gemm(1.0f, a, b, 0.0f, c);
///     Matrix<float> whole_c = c.gathered();
///
/// Each executor holds one block of rows of each matrix. It computes its rows of C, for which it has the rows of A, and
/// fetches columns of B from the others, strip by strip: the next strip is copied while the device multiplies the one
/// before. A strip has all of k, so that no sum is split: kernels that keep the contract give the bits of one executor,
/// whatever the list is. GPUs that reach each other's memory copy without the host.
///
/// With P executors each one receives k·n·(P − 1)/P elements of B, and needs room for two strips, an eighth of B each,
/// or less where memory is short.
///
/// Errors: InvalidArgument for a list that is empty, names an executor twice or has null, for shapes and lists that do
/// not fit, and for C that is A or B; what gemm() throws, with the executor's name. After an error C is unchanged,
/// except that a DeviceError leaves it undefined: it says so if parts of C were written.
///
/// Source: the stationary-C form of SUMMA (van de Geijn and Watts, 1997) on a column of executors, with strips of n
/// where SUMMA has panels of k.

#include <algorithm>
#include <concepts>
#include <span>
#include <string>
#include <vector>

#include <tessera/backend.hpp>
#include <tessera/gemm.hpp>
#include <tessera/matrix.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

namespace detail {

/// The blocks of one matrix of the shape rows×cols, one for each executor of the list.
struct BlockList {
  std::span<Executor* const> executors;
  std::vector<Operand> blocks;
  Index rows = 0, cols = 0;
};

/// Throws InvalidArgument unless the list can hold blocks, and the sizes are not negative.
TESSERA_API void check_row_blocks(std::span<Executor* const> executors, Index rows, Index cols);
/// Copies elements of one shape between a matrix of the host and a block in the executor's memory.
TESSERA_API void copy_to_block(Executor& executor, const Operand& whole, const Operand& block);
TESSERA_API void copy_from_block(Executor& executor, const Operand& block, const Operand& whole);
TESSERA_API void gemm(double alpha, const BlockList& a, const BlockList& b, double beta, const BlockList& c,
                      const GemmOptions& options);

} // namespace detail

/// A rows×cols matrix of T whose rows are dealt to executors: block i, in the memory of executor i, has the rows from
/// first_row(i) on. A copy copies the elements.
template <ElementNumber T>
class RowBlocks {
 public:
  /// The type of the elements.
  using value_type = T;

  /// Makes a matrix whose elements are undefined. The blocks have equal numbers of rows, except for the last ones,
  /// which have fewer, or none. Throws InvalidArgument for a list that is wrong and for negative sizes.
  RowBlocks(std::span<Executor* const> executors, Index rows, Index cols)
      : executors_(executors.begin(), executors.end()), rows_(rows), cols_(cols) {
    detail::check_row_blocks(executors, rows, cols);
    blocks_.reserve(executors_.size());
    for (std::size_t i = 0; i < executors_.size(); ++i)
      blocks_.push_back(Matrix<T>::uninitialized(first_row(i + 1) - first_row(i), cols));
  }

  /// Returns the number of rows of the whole matrix.
  Index rows() const noexcept { return rows_; }
  /// Returns the number of columns.
  Index cols() const noexcept { return cols_; }
  /// Returns the executors, one for each block.
  std::span<Executor* const> executors() const noexcept { return executors_; }
  /// Returns the row of the whole matrix with which block i begins; the number of rows for i = executors().size().
  Index first_row(std::size_t i) const noexcept {
    const auto count = static_cast<Index>(executors_.size());
    return std::min(rows_, (rows_ + count - 1) / count * static_cast<Index>(i));
  }
  /// Returns block i. A product brings it to executor i if its newest copy is elsewhere.
  Matrix<T>& block(std::size_t i) { return blocks_.at(i); }
  /// Returns block i, to be read.
  const Matrix<T>& block(std::size_t i) const { return blocks_.at(i); }

  /// Copies the elements of a whole matrix or view to the executors. Throws InvalidArgument if the shapes differ.
  template <MatrixLike M>
  requires std::same_as<typename M::value_type, T>
  void assign(const M& whole) {
    const MatrixView<const T> from = whole.view();
    check_whole("assign", from.rows(), from.cols());
    for (std::size_t i = 0; i < blocks_.size(); ++i)
      detail::copy_to_block(*executors_[i], from.block(first_row(i), 0, blocks_[i].rows(), cols_).operand(),
                            blocks_[i].operand());
  }
  /// Copies the elements to a whole matrix or view in host memory. Throws InvalidArgument if the shapes differ.
  template <class M>
  requires requires(M&& whole) { whole.writable(); }
  void copy_to(M&& whole) const {
    const MatrixView<T> to = whole.writable();
    check_whole("copy_to", to.rows(), to.cols());
    for (std::size_t i = 0; i < blocks_.size(); ++i)
      detail::copy_from_block(*executors_[i], blocks_[i].view().operand(),
                              to.block(first_row(i), 0, blocks_[i].rows(), cols_).operand());
  }
  /// Returns the whole matrix, in host memory.
  Matrix<T> gathered() const {
    Matrix<T> whole = Matrix<T>::uninitialized(rows_, cols_);
    copy_to(whole);
    return whole;
  }

  /// Returns what the library's functions take.
  detail::BlockList list() const {
    detail::BlockList list{executors_, {}, rows_, cols_};
    for (const Matrix<T>& block : blocks_) list.blocks.push_back(block.view().operand());
    return list;
  }

 private:
  void check_whole(const char* function, Index rows, Index cols) const {
    if (rows != rows_ || cols != cols_)
      throw InvalidArgument(std::string(function) + ": a matrix of " + std::to_string(rows) + "×" +
                            std::to_string(cols) + " and row blocks of " + std::to_string(rows_) + "×" +
                            std::to_string(cols_) + " differ in shape");
  }

  std::vector<Executor*> executors_;
  std::vector<Matrix<T>> blocks_;
  Index rows_, cols_;
};

/// Computes C := alpha·A·B + beta·C; the matrices have one list of executors. R is T, or T has 16 bits and R is float,
/// or the other way round. Returns when C is complete. No other thread may use the default queues of the executors
/// meanwhile.
template <class T, class R>
requires ResultOf<R, T>
void gemm(Scalar<T> alpha, const RowBlocks<T>& a, const RowBlocks<T>& b, Scalar<T> beta, RowBlocks<R>& c,
          const GemmOptions& options = {}) {
  detail::gemm(detail::exact_double(alpha), a.list(), b.list(), detail::exact_double(beta), c.list(), options);
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
