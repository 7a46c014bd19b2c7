#pragma once

/// Products of matrices that are spread over the ranks of an MPI program, with the bits of the product on one rank
/// (docs/contract.md), on every grid, with every block size and with every backend of the ranks.
///
///     Grid grid = Grid::best(MPI_COMM_WORLD, 8192, 8192, 8192);
///     DistributedMatrix<float> a(grid, 8192, 8192), b(grid, 8192, 8192), c(grid, 8192, 8192);
///     a.scatter(whole_a, 0);                          // from rank 0; or fill a.data() on each rank
///     gemm(1.0f, a, b.transposed(), 0.0f, c);         // all ranks call it
///     Matrix<float> whole_c = c.gather(0);            // at rank 0; empty elsewhere
///
/// Elements are float, double, f16, bf16, std::complex<float> or std::complex<double>. Every function here is
/// collective: all ranks of the communicator call it, also the ranks that the grid has no place for, with equal
/// arguments, except for data, pointers and the options that may differ. docs/distributed.md has a whole program, the
/// picture of which rank holds what, how much is sent, and how a plug-in for the MPI that the process has loaded is
/// found.
///
/// Errors are agreed on: if one rank cannot go on, or arguments differ, every rank throws the same kind of exception,
/// whose text names the rank. After an error C is unchanged. A rank that waits for another one longer than the grid's
/// time limit throws a DeviceError, and the grid cannot be used any more.

#include <array>
#include <complex>
#include <concepts>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include <tessera/detail/distributed.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/matrix.hpp>
#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// An MPI_Comm of any MPI library: a pointer or a number.
template <class Comm>
concept MpiCommunicator = std::is_pointer_v<Comm> || std::is_integral_v<Comm>;

/// How long a rank waits for another one, in seconds, if a grid says nothing else.
inline constexpr double default_time_limit = 600;

/// MPI for a program that links none, such as gemm_compare: it is initialised by the plug-in for the mpirun that
/// started the program, and ends with this object, which must outlive every grid. Throws BackendUnavailable where the
/// program was not started by mpirun.
class MpiSession {
 public:
  /// Initialises MPI.
  MpiSession() : world_(detail::start_mpi()) {}
  /// Ends MPI.
  ~MpiSession() { detail::stop_mpi(); }
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
  /// Returns all ranks, for a grid.
  const detail::MpiHandle& world() const noexcept { return world_; }

 private:
  detail::MpiHandle world_;
};

/// P×Q×layers ranks of a communicator. Rank l·P·Q + p·Q + q is in row p and column q of layer l; further ranks have no
/// place and hold nothing. Matrices lie on layer 0. The layers share out k: each one multiplies a part of the segments.
/// A copy stands for the same grid.
class Grid {
 public:
  /// Makes a grid, with a communicator of its own. Throws InvalidArgument unless the communicator has at least
  /// rows·cols·layers ranks and MPI is initialised, at least with MPI_THREAD_FUNNELED where a product uses threads;
  /// BackendUnavailable where the process has no MPI, two of them, or one without a plug-in.
  template <MpiCommunicator Comm>
  Grid(Comm comm, int rows, int cols, int layers = 1, double time_limit = default_time_limit)
      : state_(detail::make_grid({&comm, sizeof comm}, {rows, cols, layers}, time_limit)) {}
  /// Makes a grid of the ranks of a session.
  Grid(const MpiSession& session, int rows, int cols, int layers = 1, double time_limit = default_time_limit)
      : state_(detail::make_grid(session.world(), {rows, cols, layers}, time_limit)) {}
  /// Makes the grid of all ranks that receives the fewest elements in an m×n×k product.
  template <MpiCommunicator Comm>
  static Grid best(Comm comm, Index m, Index n, Index k, double time_limit = default_time_limit) {
    return Grid(detail::make_best_grid({&comm, sizeof comm}, m, n, k, time_limit));
  }

  /// Makes the best grid of the ranks of a session.
  static Grid best(const MpiSession& session, Index m, Index n, Index k, double time_limit = default_time_limit) {
    return Grid(detail::make_best_grid(session.world(), m, n, k, time_limit));
  }

  /// Returns the number of process rows.
  int rows() const noexcept { return detail::shape_of(*state_).rows; }
  /// Returns the number of process columns.
  int cols() const noexcept { return detail::shape_of(*state_).cols; }
  /// Returns the number of layers.
  int layers() const noexcept { return detail::shape_of(*state_).layers; }
  /// Returns this rank's number in the communicator.
  int rank() const noexcept { return detail::rank_in(*state_); }
  /// Returns the number of ranks of the communicator, of which the grid may leave some out.
  int ranks() const noexcept { return detail::ranks_of(*state_); }

  /// Returns the largest of the numbers that the ranks pass, which are not negative.
  double largest(double number) const { return detail::largest_of(*state_, number); }

  /// Returns what the library's functions take.
  const std::shared_ptr<detail::GridState>& state() const noexcept { return state_; }

 private:
  explicit Grid(std::shared_ptr<detail::GridState> state) : state_(std::move(state)) {}
  std::shared_ptr<detail::GridState> state_;
};

/// A complex type of elements.
template <class T>
concept DistributedComplex = std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;

/// A type of the elements of distributed matrices.
template <class T>
concept DistributedNumber = ElementNumber<T> || DistributedComplex<T>;

/// The type of alpha and beta in products of matrices of T: float for 16-bit types, else T itself.
template <DistributedNumber T>
using DistributedFactor = typename detail::DistributedTypeOf<T>::Factor;

/// A matrix over the ranks, or its transpose, for a product to read. It keeps the elements alive.
template <class T>
class DistributedView {
 public:
  /// The type of the elements.
  using value_type = T;
  /// Makes a view of what the library's functions take.
  DistributedView(detail::DistributedPointer storage, Op op) : storage_(std::move(storage)), op_(op) {}
  /// Returns the view of the transpose. Throws InvalidArgument for a conjugate transpose, because there is no view of
  /// the conjugate alone.
  DistributedView transposed() const {
    if (op_ == Op::ConjugateTranspose)
      throw InvalidArgument("transposed() of a conjugate transpose: a product takes no conjugate alone");
    return {storage_, op_ == Op::None ? Op::Transpose : Op::None};
  }
  /// Returns this view.
  DistributedView view() const { return *this; }
  /// Returns what the library's functions take.
  const detail::DistributedStorage& storage() const noexcept { return *storage_; }
  /// Returns whether the transpose is meant.
  Op op() const noexcept { return op_; }

 private:
  detail::DistributedPointer storage_;
  Op op_;
};

/// A rows×cols matrix of T over the ranks of a grid, block-cyclic with any blocks. A copy shares the elements.
template <DistributedNumber T>
class DistributedMatrix {
 public:
  /// The type of the elements.
  using value_type = T;

  /// Makes a matrix whose elements are undefined.
  DistributedMatrix(const Grid& grid, Index rows, Index cols, Blocks blocks = {},
                    LocalOrder order = LocalOrder::RowMajor)
      : storage_(detail::create_distributed(grid.state(), rows, cols, blocks, order, type)) {}

  /// Makes a matrix whose elements stay in the memory of a backend, if that is not the host's: products there read and
  /// write them where they are, and other functions bring them to the host when they need them there. Elements are
  /// undefined. Throws BackendUnavailable, and OutOfMemory, which the host may cause too: it has memory for a copy.
  DistributedMatrix(const Grid& grid, Index rows, Index cols, const Residence& residence, Blocks blocks = {},
                    LocalOrder order = LocalOrder::RowMajor)
      : storage_(detail::create_distributed(grid.state(), rows, cols, blocks, order, type, &residence)) {}

  /// Returns a matrix in the caller's memory, as a descriptor of ScaLAPACK says (DESC_, CTXT_, M_, N_, MB_, NB_, RSRC_,
  /// CSRC_, LLD_; the context is not looked at). The grid must be the one of the context, in row order. Throws
  /// InvalidArgument for a descriptor of another kind, or with a leading dimension less than the local rows.
  static DistributedMatrix wrap(const Grid& grid, const std::array<int, 9>& descriptor, T* data) {
    return DistributedMatrix(detail::wrap_distributed(grid.state(), descriptor, data, type));
  }
  /// Returns a matrix in the caller's memory, dealt as a matrix that the library allocates; this rank has as many rows
  /// and columns as local_rows() and local_cols() say. `ld` counts elements from one local row to the next, or from
  /// column to column. Throws InvalidArgument for an ld less than the local columns (or rows), and for null.
  static DistributedMatrix wrap(const Grid& grid, Index rows, Index cols, Blocks blocks, T* data, Index ld,
                                LocalOrder order = LocalOrder::RowMajor) {
    return DistributedMatrix(detail::wrap_distributed(grid.state(), rows, cols, blocks, {data, order, ld}, type));
  }

  /// Reads a .npy file in a folder that the ranks share; each rank reads its own elements. Throws IoError, also where
  /// the file was changed or replaced while ranks read it.
  static DistributedMatrix load_npy(const Grid& grid, const std::filesystem::path& path, Blocks blocks = {},
                                    LocalOrder order = LocalOrder::RowMajor) {
    return DistributedMatrix(detail::load_distributed_npy(grid.state(), path, blocks, order, type));
  }
  /// Writes a .npy file in a folder that the ranks share; each rank writes its own elements. The target is replaced
  /// when all of them are written. Throws IoError.
  void save_npy(const std::filesystem::path& path) const { detail::save_distributed_npy(*storage_, path); }

  /// Returns the number of rows of the whole matrix.
  Index rows() const noexcept { return storage_->rows; }
  /// Returns the number of columns of the whole matrix.
  Index cols() const noexcept { return storage_->cols; }
  /// Returns the sizes of the blocks.
  Blocks blocks() const noexcept { return storage_->blocks; }

  /// Returns the number of rows that this rank holds.
  Index local_rows() const noexcept { return storage_->local_rows; }
  /// Returns the number of columns that this rank holds.
  Index local_cols() const noexcept { return storage_->local_cols; }
  /// Returns the elements from one local row to the next, or from column to column in column-major order.
  Index ld() const noexcept { return storage_->ld; }
  /// Returns the order of this rank's elements.
  LocalOrder order() const noexcept { return storage_->order; }
  /// Returns this rank's elements, in host memory. Elements that stay on a device are brought there first, and the
  /// device's copy is then the older one; the pointer may be written to until the next call of a function that takes
  /// the matrix. Throws what the copy fails with.
  T* data() {
    if (storage_->resident != nullptr) detail::bring_to_host(*storage_, true);
    return static_cast<T*>(storage_->data);
  }
  /// Returns this rank's elements, to be read.
  const T* data() const {
    if (storage_->resident != nullptr) detail::bring_to_host(*storage_, false);
    return static_cast<const T*>(storage_->data);
  }
  /// Returns the row of the whole matrix that this rank's row `local` is.
  Index global_row(Index local) const noexcept { return detail::global_row(*storage_, local); }
  /// Returns the column of the whole matrix that this rank's column `local` is.
  Index global_col(Index local) const noexcept { return detail::global_col(*storage_, local); }
  /// Returns this rank's element (i, j) by its local row and column, which are not checked.
  T& local(Index i, Index j) { return data()[order() == LocalOrder::RowMajor ? i * ld() + j : i + j * ld()]; }
  /// Returns this rank's element (i, j) by its local row and column, to be read.
  const T& local(Index i, Index j) const {
    return data()[order() == LocalOrder::RowMajor ? i * ld() + j : i + j * ld()];
  }

  /// Copies from the rank `root`, whose `whole` has the shape of this matrix; other ranks pass any matrix.
  void scatter(const Matrix<T>& whole, int root) requires ElementNumber<T> {
    const detail::Operand operand = whole.view().operand();
    detail::scatter(grid_rank() == root ? &operand : nullptr, root, *storage_);
  }
  /// Returns the whole matrix at the rank `root`, and an empty one at the others.
  Matrix<T> gather(int root) const requires ElementNumber<T> {
    const bool here = grid_rank() == root;
    Matrix<T> whole;
    detail::Operand operand;
    const auto allocate = [&] {
      if (!here) return;
      whole = Matrix<T>(rows(), cols());
      operand = whole.operand();
    };
    detail::run_on_all(*storage_->grid, "gather", std::ref(allocate));
    detail::gather(*storage_, root, here ? &operand : nullptr);
    return whole;
  }
  /// Copies from the memory of the rank `root`, where the whole matrix lies row by row, `ld` elements from one row to
  /// the next. Other ranks pass null.
  void scatter(const T* whole, Index ld, int root) {
    detail::scatter(detail::WholeMatrix{const_cast<T*>(whole), ld}, root, *storage_);
  }
  /// Copies the whole matrix to the memory of the rank `root`, row by row. Other ranks pass null.
  void gather(T* whole, Index ld, int root) const { detail::gather(*storage_, root, detail::WholeMatrix{whole, ld}); }
  /// Copies the elements to a matrix of the same shape, on a grid of the same communicator, with blocks of its own.
  void redistribute(DistributedMatrix& to) const { detail::redistribute(*storage_, *to.storage_); }

  /// Returns a view of the matrix.
  DistributedView<T> view() const { return {storage_, Op::None}; }
  /// Returns a view of the transpose. Nothing is copied.
  DistributedView<T> transposed() const { return {storage_, Op::Transpose}; }
  /// Returns a view of the conjugate transpose of a complex matrix. Nothing is copied.
  DistributedView<T> conjugate_transposed() const requires DistributedComplex<T> {
    return {storage_, Op::ConjugateTranspose};
  }
  /// Returns what the library's functions take.
  const detail::DistributedStorage& storage() const noexcept { return *storage_; }

 private:
  static constexpr detail::DistributedType type = detail::DistributedTypeOf<T>::value;
  explicit DistributedMatrix(detail::DistributedPointer storage) : storage_(std::move(storage)) {}
  int grid_rank() const noexcept { return detail::rank_in(*storage_->grid); }
  detail::DistributedPointer storage_;
};

/// A DistributedMatrix or a view of one.
template <class M>
concept DistributedLike = requires(const M& m) {
  { m.view() } -> std::same_as<DistributedView<typename M::value_type>>;
};

/// Computes C := alpha·A·B + beta·C for matrices on one grid; transpose A and B with .transposed(). Returns what this
/// rank sent and allocated.
template <DistributedLike A, DistributedLike B>
requires std::same_as<typename A::value_type, typename B::value_type> DistributedReport
gemm(DistributedFactor<typename A::value_type> alpha, const A& a, const B& b,
     DistributedFactor<typename A::value_type> beta, DistributedMatrix<typename A::value_type>& c,
     const DistributedOptions& options = {}) {
  const auto x = a.view(), y = b.view();
  return detail::gemm(detail::exact_double(alpha), x.storage(), x.op(), y.storage(), y.op(), detail::exact_double(beta),
                      c.storage(), options);
}

/// Returns what gemm() with these arguments will take on this rank; nothing is multiplied, and `memory_limit` is not
/// looked at. Ranks may have different plans: grid.largest(plan.bytes()) is the largest. Throws what gemm() throws for
/// wrong arguments, and KernelRejected if no engine takes the product.
template <DistributedLike A, DistributedLike B>
requires std::same_as<typename A::value_type, typename B::value_type> DistributedPlan
plan_gemm(DistributedFactor<typename A::value_type> alpha, const A& a, const B& b,
          DistributedFactor<typename A::value_type> beta, const DistributedMatrix<typename A::value_type>& c,
          const DistributedOptions& options = {}) {
  const auto x = a.view(), y = b.view();
  return detail::plan_gemm(detail::exact_double(alpha), x.storage(), x.op(), y.storage(), y.op(),
                           detail::exact_double(beta), c.storage(), options);
}

/// A way to multiply distributed matrices.
struct DistributedEngine {
  std::string_view name;    ///< what users call it, as in DistributedOptions::engine
  std::string_view summary; ///< one line on the idea
  std::string_view source;  ///< where the idea was published
  bool canonical = true;    ///< gives the bits of one rank; else it is a yardstick, and runs only by its name
};

/// Returns the engines, in the order of preference.
TESSERA_API std::span<const DistributedEngine> distributed_engines() noexcept;

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
