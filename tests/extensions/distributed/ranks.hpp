#pragma once

/// What the tests of distributed products share: communicators of fewer ranks, and matrices that every rank knows
/// whole.

#include <mpi.h>
#include <algorithm>
#include <bit>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <type_traits>
#include <vector>

#include <tessera/complex.hpp>
#include <tessera/distributed/distributed.hpp>
#include <tessera/tessera.hpp>

namespace tessera::test {

inline int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
inline int world_size() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// Returns the number in an environment variable, or another one where it is not set.
inline int number_of(const char* variable, int otherwise) {
  const char* value = std::getenv(variable);
  return value != nullptr ? std::atoi(value) : otherwise;
}

/// The first `count` ranks of the world. On further ranks the communicator is null.
class FirstRanks {
 public:
  explicit FirstRanks(int count) {
    MPI_Comm_split(MPI_COMM_WORLD, world_rank() < count ? 0 : MPI_UNDEFINED, world_rank(), &comm_);
  }
  ~FirstRanks() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }
  FirstRanks(const FirstRanks&) = delete;
  FirstRanks& operator=(const FirstRanks&) = delete;
  MPI_Comm comm() const { return comm_; }
  bool holds_this_rank() const { return comm_ != MPI_COMM_NULL; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Uses the memory of this rank's device, which is one of two, except for `left` bytes.
class LittleMemory {
 public:
  explicit LittleMemory(std::size_t left) : device_(executor(Backend::Cuda, world_rank() % 2)) {
    constexpr std::size_t step = std::size_t{16} << 10;
    void* rest = nullptr;
    throw_if_failed(device_.allocate(left, rest));
    for (std::size_t bytes = device_.capabilities().memory_bytes / step * step; bytes > 0; bytes -= step)
      if (device_.allocate(bytes, memory_).ok()) break;
    device_.free(rest);
  }
  ~LittleMemory() { device_.free(memory_); }
  LittleMemory(const LittleMemory&) = delete;
  LittleMemory& operator=(const LittleMemory&) = delete;

 private:
  Executor& device_;
  void* memory_ = nullptr;
};

/// A matrix of any type of elements that every rank has, row by row. Matrix has no complex elements.
template <class T>
class Whole {
 public:
  Whole(Index rows, Index cols) : rows_(rows), cols_(cols), data_(static_cast<std::size_t>(rows * cols)) {}
  /// Makes a matrix of numbers as Matrix::random() draws them, of the parts of complex numbers.
  template <class... Arguments>
  static Whole random(Index rows, Index cols, const Arguments&... arguments) {
    using Part = typename detail::DistributedTypeOf<T>::Part;
    constexpr Index parts = sizeof(T) / sizeof(Part);
    const auto drawn = Matrix<Part>::random(rows, cols * parts, arguments...);
    Whole x(rows, cols);
    Part* numbers = reinterpret_cast<Part*>(x.data_.data());
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < cols * parts; ++j) numbers[i * cols * parts + j] = drawn(i, j);
    return x;
  }
  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index ld() const { return std::max<Index>(1, cols_); }
  T& operator()(Index i, Index j) { return data_[static_cast<std::size_t>(i * cols_ + j)]; }
  const T& operator()(Index i, Index j) const { return data_[static_cast<std::size_t>(i * cols_ + j)]; }
  T* data() { return data_.data(); }
  const T* data() const { return data_.data(); }

 private:
  Index rows_, cols_;
  std::vector<T> data_;
};

/// Copies this rank's elements of a matrix that every rank has.
template <class M, class T>
void take_own_part(const M& whole, DistributedMatrix<T>& part) {
  for (Index i = 0; i < part.local_rows(); ++i)
    for (Index j = 0; j < part.local_cols(); ++j) part.local(i, j) = whole(part.global_row(i), part.global_col(j));
}

/// Are the bits equal? The contract leaves the bits of NaN open.
template <class T>
bool same_bits(T x, T y) {
  using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
  const bool both_nan = x != x && y != y;
  return both_nan || std::bit_cast<Bits>(x) == std::bit_cast<Bits>(y);
}
template <class T>
bool same_bits(std::complex<T> x, std::complex<T> y) {
  return same_bits(x.real(), y.real()) && same_bits(x.imag(), y.imag());
}

/// Counts this rank's elements whose bits differ from the bits of the whole matrix.
template <class M, class T>
Index differing_bits(const M& whole, const DistributedMatrix<T>& part) {
  Index count = 0;
  for (Index i = 0; i < part.local_rows(); ++i)
    for (Index j = 0; j < part.local_cols(); ++j)
      if (!same_bits(part.local(i, j), T(whole(part.global_row(i), part.global_col(j))))) ++count;
  return count;
}

/// Counts this rank's elements whose bits differ in two matrices that lie alike.
template <class T>
Index differing_elements(const DistributedMatrix<T>& x, const DistributedMatrix<T>& y) {
  Index count = 0;
  for (Index i = 0; i < x.local_rows(); ++i)
    for (Index j = 0; j < x.local_cols(); ++j)
      if (!same_bits(x.local(i, j), y.local(i, j))) ++count;
  return count;
}

/// Returns the sum over all ranks of a communicator.
inline std::uint64_t total(std::uint64_t value, MPI_Comm comm) {
  std::uint64_t sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_UINT64_T, MPI_SUM, comm);
  return sum;
}

} // namespace tessera::test
