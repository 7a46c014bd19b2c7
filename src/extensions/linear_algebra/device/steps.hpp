#pragma once

/// What a device computes of a factorisation: products, and the steps that are none (panel.hpp). Everything is enqueued
/// in the default queue; nothing is copied but numbers of rows. Sizes and leading dimensions count numbers, real or
/// complex ones.

#include <algorithm>
#include <complex>
#include <span>
#include <utility>

#include <tessera/backend/kernel.hpp>
#include <tessera/backend/panel.hpp>
#include <tessera/detail/storage.hpp>
#include <tessera/executor.hpp>
#include <tessera/linear_algebra/condition.hpp>

namespace tessera::linear_algebra::device {

/// A rectangle of a row-major matrix in the device's memory.
struct Place {
  char* data = nullptr;
  Index ld = 0;
  Index element = 0; ///< bytes

  Place at(Index i, Index j) const { return {data + (i * ld + j) * element, ld, element}; }
};

/// Memory of the device. The destructor frees it, after the work that was enqueued before.
class DeviceArray {
 public:
  /// Throws OutOfMemory.
  DeviceArray(Executor& executor, Index bytes) : executor_(executor) {
    throw_if_failed(executor.allocate(static_cast<std::size_t>(bytes), data_));
  }
  ~DeviceArray() { executor_.free(data_); }
  DeviceArray(DeviceArray&& other) noexcept : executor_(other.executor_), data_(std::exchange(other.data_, nullptr)) {}
  DeviceArray& operator=(DeviceArray&&) = delete;

  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  Executor& executor_;
  void* data_ = nullptr;
};

class Steps {
 public:
  Steps(Executor& executor, DType type, bool is_complex = false)
      : executor_(executor), queue_(executor.default_queue()), type_(type), is_complex_(is_complex) {}

  bool is_complex() const { return is_complex_; }
  /// Returns the steps of the numbers' parts.
  Steps of_parts() const { return {executor_, type_}; }
  Index parts() const { return is_complex_ ? 2 : 1; } ///< of a number
  Index element() const { return parts() * static_cast<Index>(size_of(type_)); }
  /// Returns the terms of a segment.
  Index segment() const { return canonical_segment / parts(); }
  /// Returns the columns of a panel of Cholesky's.
  Index positive_width() const { return most_positive_columns(static_cast<std::size_t>(element())); }
  Op adjoint() const { return is_complex_ ? Op::ConjugateTranspose : Op::Transpose; }
  Place place(detail::Placed placed) const { return {static_cast<char*>(placed.data), placed.ld / parts(), element()}; }
  /// Returns memory for rows of at most `cols` numbers, as a matrix whose rows are whole lines of the cache.
  DeviceArray array(Index rows, Index cols) const { return {executor_, rows * line(cols) * element()}; }
  Place place(const DeviceArray& array, Index cols) const { return {array.as<char>(), line(cols), element()}; }
  DeviceArray numbers(Index count) const { return {executor_, count * static_cast<Index>(sizeof(Index))}; }

  /// C = C − A·B where `subtracts`, else C = A·B; m×n over k terms, with B or the transpose of `b`.
  void product(bool subtracts, Index m, Index n, Index k, Place a, Place b, Op op_b, Place c) const {
    product(subtracts, m, n, k, a, Op::None, b, op_b, c);
  }
  /// The same with A or the transpose of `a`, in any mode.
  void product(bool subtracts, Index m, Index n, Index k, Place a, Op op_a, Place b, Op op_b, Place c,
               Math math = Math::Strict) const;
  /// C = alpha·op(A)·op(B) + beta·C. Of real numbers the factors are real.
  void multiply(GemmShape shape, std::complex<double> alpha, Place a, Op op_a, Place b, Op op_b,
                std::complex<double> beta, Place c, Math math = Math::Strict) const;
  /// Makes S the sums of the k terms before, which are A·B, or zeros where there are none.
  void sums(Index m, Index n, Index k, Place a, Place b, Op op_b, Place s) const;
  /// Runs a step of this type of numbers. Throws KernelRejected where the device cannot.
  void panel(const PanelCall& call) const;
  /// Does the same, or returns false where the device cannot; then nothing has changed.
  bool try_panel(const PanelCall& call) const;
  /// Throws OutOfMemory where the device has none for the expanded operands of complex products. They take less where
  /// less is left, but not nothing; so a factorisation asks before it begins.
  void expect_memory_of_products() const;
  /// Exchanges rows of A, rows×cols: row j and row numbers[j], in ascending or descending j. Takes memory before it
  /// writes.
  void exchange_rows(Index rows, Index cols, Place a, std::span<const Index> numbers, bool ascends = true) const;
  /// Z = Xᵀ, rows×cols, or Xᴴ.
  void transpose(Index rows, Index cols, Place x, Place z, bool conjugates = false) const;
  /// Z has ones on its diagonal, and zeros elsewhere.
  void make_identity(Index rows, Index cols, Place z) const;

  template <class T>
  void read(std::span<T> to, const T* from) const {
    throw_if_failed(executor_.copy_out(queue_, to.data(), to.size_bytes(), from, to.size_bytes(), to.size_bytes(), 1));
  }
  template <class T>
  void write(T* to, std::span<const T> from) const {
    throw_if_failed(
        executor_.copy_in(queue_, to, from.size_bytes(), from.data(), from.size_bytes(), from.size_bytes(), 1));
  }

  /// Copies rows of host memory, which are `ld` numbers apart, to the device, or back. The copy is done on return.
  void bring(Index rows, Index cols, const void* from, Index ld, Place to) const;
  void fetch(Index rows, Index cols, Place from, void* to, Index ld) const;
  void fill(Index rows, Index cols, double value, Place z) const;
  /// Makes the imaginary parts of Z's diagonal +0, n complex numbers.
  void make_diagonal_real(Index n, Place z) const;
  /// Z = alpha·X.
  void scale(Index rows, Index cols, std::complex<double> alpha, Place x, Place z) const;

  /// Returns the largest sum of a column's magnitudes, in double.
  detail::ScaledNumber norm_1(Index rows, Index cols, Place a, bool is_symmetric) const;

 private:
  Index line(Index cols) const { return (cols * element() + 255) / 256 * 256 / element(); }
  void map(MapCall call) const;
  Status run(PanelCall call) const;
  void gather_rows(Index rows, Index cols, Place a, std::span<const Index> numbers) const;

  Executor& executor_;
  Queue& queue_;
  DType type_;
  bool is_complex_;
};

/// A lower triangle, which may stand in a larger matrix.
struct Lower {
  Index n = 0;
  Place t;
  bool has_unit_diagonal = false;
};

/// The unknowns of a system, which take the place of its right-hand sides: the columns of X in T·X = B, or the rows of
/// X in X·Tᵀ = B. Of complex numbers the second is not the transpose of the first, because the factors of its terms
/// stand in the other order.
struct Unknowns {
  Index count = 0;
  Place x;
  bool are_rows = false;

  Place from(Index i) const { return are_rows ? x.at(0, i) : x.at(i, 0); }
};

/// Solves with a lower triangle. `sums` has room for a panel's numbers of all unknowns. `begins` becomes true when the
/// unknowns are changed, and stays as it is where the device rejects the first step.
void solve_lower(const Steps& steps, const Lower& lower, const Unknowns& unknowns, Place sums, bool& begins);

/// One number that steps of the device set: the row where a factorisation fails, or −1.
class FirstFailure {
 public:
  explicit FirstFailure(const Steps& steps);
  Index* place() const { return memory_.as<Index>(); }
  Index get() const;

 private:
  const Steps& steps_;
  DeviceArray memory_;
};

/// The LU factorisation of A, m×n, in place. The constructor takes all memory, and writes none of A.
class Elimination {
 public:
  /// `math` is the mode of the products that subtract a whole segment from the rest.
  Elimination(const Steps& steps, Index m, Index n, Place a, Math math = Math::Strict);
  /// Row j changes places with row pivots[j]. Returns the first pivot of 0, or −1. `begins` becomes true when A is
  /// changed, and stays as it is where the device rejects the first panel.
  Index run(std::span<Index> pivots, bool& begins) const;

 private:
  struct Columns {
    Index begin, end;
  };
  Lower unit_lower() const { return {.n = std::min(m_, n_), .t = a_, .has_unit_diagonal = true}; }
  void factor_panel(Index first, Index j, Index width, Index end, bool& begins) const;
  void exchange(Index row, Index begin, Index end, Columns columns, Columns kept) const;

  const Steps& steps_;
  Index m_, n_;
  Place a_;
  Math math_;
  DeviceArray numbers_, column_memory_, row_memory_;
  Place column_sums_, row_sums_;
  FirstFailure failure_;
};

/// Cholesky's factorisation of A, n×n, of which the lower triangle is read and becomes L, with zeros above it. The
/// constructor takes all memory, and writes none of A.
class PositiveFactor {
 public:
  PositiveFactor(const Steps& steps, Index n, Place a);
  /// Returns the first row whose number under the root is not positive, or −1. `begins` is as in Elimination.
  Index run(bool& begins) const;

 private:
  void factor_panel(Index first, Index j, Index width, bool& begins) const;

  const Steps& steps_;
  Index n_;
  Place a_;
  DeviceArray memory_;
  Place sums_;
  FirstFailure failure_;
};

} // namespace tessera::linear_algebra::device
