#pragma once

/// What <tessera/distributed/distributed.hpp> needs of libtessera. Programs do not use this header directly.

#include <array>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tessera/backend/kernel.hpp>
#include <tessera/detail/export.hpp>
#include <tessera/detail/number_type.hpp>
#include <tessera/detail/storage.hpp>
#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// The order of a rank's elements in its memory.
enum class LocalOrder : int {
  RowMajor = 0,    ///< rows one after the other, as in Matrix
  ColumnMajor = 1, ///< columns one after the other, as in ScaLAPACK
};

/// The sizes of the blocks that are dealt to the ranks; 0: as large as gives every rank a part, at most 1024.
struct Blocks {
  Index rows = 0; ///< rows of a block
  Index cols = 0; ///< columns of a block
};

/// The backend in whose memory a rank's elements stay, so that its products need not copy them there. For a backend of
/// the host that is host memory. Ranks may differ.
struct Residence {
  /// The elements stay with this backend's device; −1: the backend's choice.
  explicit Residence(Backend in, int number = -1) noexcept : backend(in), device(number) {}

  Backend backend; ///< a backend that the program names
  int device;      ///< counted from 0
};

/// The choices of a caller. Ranks may differ in backend, device, threads and memory_limit, and must agree on the engine
/// and on device_messages.
struct DistributedOptions {
  Backend backend = Backend::Auto; ///< multiplies on this rank
  /// The backend's device that multiplies, counted from 0. −1: where C stays, or else A or B, if one of them has a
  /// Residence on a device of this backend, or of any where the backend is Auto; else the backend's choice.
  int device = -1;
  std::string engine = {};      ///< a name in distributed_engines(); empty: the first one that takes the product
  int threads = 0;              ///< of the local products; 0: default_threads()
  std::size_t memory_limit = 0; ///< most bytes that the product may allocate on this rank; 0: no limit
  /// Should MPI broadcast panels from and into the memory of the backends that multiply, not through the host's? If MPI
  /// cannot, which is tried at the first use on a grid, every rank throws BackendUnavailable.
  bool device_messages = false;
};

/// What a product will take on this rank.
struct DistributedPlan {
  std::string engine;         ///< the engine that would run; empty if nothing is multiplied
  std::size_t host_bytes = 0; ///< memory of the host
  /// Memory of the device that multiplies, or of any backend's panels with device_messages. Sums that do not fit into a
  /// device go through it in blocks. A device that has less than this left when the product begins gets smaller ones.
  std::size_t device_bytes = 0;
  bool counts_bytes = false;        ///< as in DistributedReport
  std::uint64_t bytes_expected = 0; ///< elements' bytes that will come from other ranks

  /// Returns what `memory_limit` is compared with.
  std::size_t bytes() const noexcept { return host_bytes + device_bytes; }
};

/// What a product did on this rank.
struct DistributedReport {
  std::string engine;               ///< the engine that ran
  std::size_t planned_bytes = 0;    ///< memory that was announced before the product began: the plan's, or what
                                    ///< smaller blocks take where a device had less left
  std::size_t allocated_bytes = 0;  ///< memory that it allocated, at most the planned bytes
  bool counts_bytes = false;        ///< does the engine count? ScaLAPACK and NVIDIA's libraries send by themselves
  std::uint64_t bytes_received = 0; ///< elements' bytes that came from other ranks
  std::uint64_t bytes_sent =
      0; ///< elements' bytes that this rank gave to MPI; a broadcast counts once, a message for each receiver
  std::uint64_t messages = 0;       ///< messages to one other rank or from one
  std::uint64_t broadcasts = 0;     ///< broadcasts along a process row or column that this rank took part in
  std::uint64_t agreements = 0;     ///< reductions of some numbers over all ranks, by which they agree on errors
  std::uint64_t bytes_expected = 0; ///< what bytes_received is by the formula of the distribution
  double seconds_waiting = 0;       ///< for other ranks
  double seconds_multiplying = 0;   ///< in local products
};

namespace detail {

struct GridState;
struct PlacedElements;

/// The type of a distributed matrix's elements.
using DistributedType = NumberType;
/// Returns the k of a segment, counted in elements: a complex number is two real k (complex.hpp).
constexpr Index segment_of(DistributedType type) noexcept {
  return type.is_complex ? canonical_segment / 2 : canonical_segment;
}

/// The facts about a C++ type of elements.
template <class T>
struct DistributedTypeOf {
  using Factor = Scalar<T>; ///< of alpha and beta
  using Part = T;           ///< of a complex number; the number itself
  static constexpr DistributedType value{dtype_of<T>, false};
};
template <class T>
struct DistributedTypeOf<std::complex<T>> {
  using Factor = std::complex<T>;
  using Part = T;
  static constexpr DistributedType value{dtype_of<T>, true};
};

/// How this rank's elements of a distributed matrix lie in the caller's memory.
struct LocalMemory {
  void* data = nullptr;
  LocalOrder order = LocalOrder::RowMajor;
  Index ld = 0; ///< elements from one local row to the next, or from column to column
};

/// A whole matrix of one rank, row by row in its memory.
struct WholeMatrix {
  void* data = nullptr;
  Index ld = 0; ///< elements from one row to the next
};

/// The shape of a grid of ranks.
struct GridShape {
  int rows = 1, cols = 1, layers = 1;
};

/// An MPI_Comm without its type: the bytes of the handle.
struct MpiHandle {
  const void* address;
  std::size_t size;
};

/// Initialises the MPI whose mpirun started the process; returns its world. Ends it.
TESSERA_API MpiHandle start_mpi();
TESSERA_API void stop_mpi() noexcept;
/// Returns the largest of the numbers that the ranks pass, which are not negative.
TESSERA_API double largest_of(GridState& grid, double number);

TESSERA_API std::shared_ptr<GridState> make_grid(MpiHandle comm, const GridShape& shape, double time_limit);
/// Makes a grid of one layer from some ranks of a communicator, which are in row order. Only they call it.
TESSERA_API std::shared_ptr<GridState> make_grid_of(MpiHandle comm, const std::vector<int>& ranks,
                                                    const GridShape& shape, double time_limit);
/// Returns this process's rank in a communicator.
TESSERA_API int rank_in_communicator(MpiHandle comm);
/// Returns how many bytes an MPI_Comm of the MPI of this process has.
TESSERA_API std::size_t size_of_communicator();
/// Was MPI initialised so that a product may use threads?
TESSERA_API bool allows_threads(const GridState& grid) noexcept;
TESSERA_API std::shared_ptr<GridState> make_best_grid(MpiHandle comm, Index m, Index n, Index k, double time_limit);
TESSERA_API GridShape shape_of(const GridState& grid) noexcept;
/// Returns the rank in the communicator of the grid, and the number of its ranks.
TESSERA_API int rank_in(const GridState& grid) noexcept;
TESSERA_API int ranks_of(const GridState& grid) noexcept;

/// A matrix over the ranks of a grid's first layer. Block (i, j) belongs to the process row (i + row_source) mod P and
/// the process column (j + col_source) mod Q.
struct DistributedStorage {
  std::shared_ptr<GridState> grid;
  DistributedType type;
  Index rows = 0, cols = 0;
  Blocks blocks = {1, 1};
  int row_source = 0, col_source = 0;
  LocalOrder order = LocalOrder::RowMajor;
  Index local_rows = 0, local_cols = 0; ///< of this rank
  Index ld = 1;                         ///< elements from one local row to the next, or from column to column
  void* data = nullptr;
  std::shared_ptr<void> memory;             ///< keeps `data` alive; null for the caller's memory
  std::shared_ptr<PlacedElements> resident; ///< the elements in a device's memory; null: they are on the host alone
};

using DistributedPointer = std::shared_ptr<DistributedStorage>;

TESSERA_API DistributedPointer create_distributed(const std::shared_ptr<GridState>& grid, Index rows, Index cols,
                                                  Blocks blocks, LocalOrder order, DistributedType type,
                                                  const Residence* residence = nullptr);
/// Brings a rank's elements to `data` from the device where they stay, unless their newest copy is there. `writes`:
/// they are going to be changed there. Only this rank need call it.
TESSERA_API void bring_to_host(const DistributedStorage& x, bool writes);
TESSERA_API DistributedPointer wrap_distributed(const std::shared_ptr<GridState>& grid,
                                                const std::array<int, 9>& descriptor, void* data, DistributedType type,
                                                LocalOrder order = LocalOrder::ColumnMajor);
TESSERA_API DistributedPointer wrap_distributed(const std::shared_ptr<GridState>& grid, Index rows, Index cols,
                                                Blocks blocks, const LocalMemory& memory, DistributedType type);
/// Returns how many indices of a dimension a coordinate holds.
TESSERA_API Index local_size(Index size, Index block, int coordinate, int source, int count) noexcept;
/// Runs a step that one rank may fail at. Throws on every rank if it threw on one; the text begins with `function`.
/// Pass the step by std::ref(), because a std::function may allocate, which fails before the ranks agree.
TESSERA_API void run_on_all(GridState& grid, const char* function, const std::function<void()>& step);
/// Returns the global row (or column) of a local one, of this rank.
TESSERA_API Index global_row(const DistributedStorage& x, Index local) noexcept;
TESSERA_API Index global_col(const DistributedStorage& x, Index local) noexcept;

/// Copies between a matrix on the rank `root` and its distributed form. The other ranks' `whole` is not looked at.
TESSERA_API void scatter(const Operand* whole, int root, const DistributedStorage& to);
TESSERA_API void gather(const DistributedStorage& from, int root, const Operand* whole);
TESSERA_API void scatter(const WholeMatrix& whole, int root, const DistributedStorage& to);
TESSERA_API void gather(const DistributedStorage& from, int root, const WholeMatrix& whole);
/// Copies between two matrices of one shape and type on grids of one communicator.
TESSERA_API void redistribute(const DistributedStorage& from, const DistributedStorage& to);

/// Reads and writes .npy files; each rank its own elements.
TESSERA_API DistributedPointer load_distributed_npy(const std::shared_ptr<GridState>& grid,
                                                    const std::filesystem::path& path, Blocks blocks, LocalOrder order,
                                                    DistributedType type);
TESSERA_API void save_distributed_npy(const DistributedStorage& x, const std::filesystem::path& path);

TESSERA_API DistributedReport gemm(std::complex<double> alpha, const DistributedStorage& a, Op op_a,
                                   const DistributedStorage& b, Op op_b, std::complex<double> beta,
                                   const DistributedStorage& c, const DistributedOptions& options);
TESSERA_API DistributedPlan plan_gemm(std::complex<double> alpha, const DistributedStorage& a, Op op_a,
                                      const DistributedStorage& b, Op op_b, std::complex<double> beta,
                                      const DistributedStorage& c, const DistributedOptions& options);

} // namespace detail
} // namespace tessera

#include <tessera/detail/macros_on.hpp>
