#pragma once

/// The interface that a backend implements.
///
/// An Executor owns one device's memory and its default queue. It hands out memory, copies between host and
/// device, runs element-wise operations and reductions, and shows its ladder of GEMM kernels:
///
///     Executor& cuda = tessera::executor(Backend::Cuda);   // loads the plug-in; throws with the reason
///     void* p = nullptr;
///     throw_if_failed(cuda.allocate(bytes, p));
///     throw_if_failed(cuda.gemm(cuda.default_queue(), call));
///
/// Most programs never see an executor: Matrix and gemm() use it for them.
///
/// Every virtual method is noexcept and reports through Status; only libtessera throws. Several threads may use an
/// executor at once, but only one thread at a time may use a queue.
///
/// A backend overrides the protected methods run_allocate(), run_copy_in(), run_map() and so on. Programs, and backends
/// too, call the public ones without `run_`, which are not virtual: they tell the tools (tools.hpp) of the work and
/// call the protected ones.
///
/// Source: ginkgo's Executor, which owns memory and queue as well. There is no double dispatch between devices here:
/// libtessera copies between two devices through the host.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <tessera/backend/kernel.hpp>
#include <tessera/batch.hpp>
#include <tessera/detail/forward.hpp>
#include <tessera/status.hpp>
#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

struct PanelCall; // backend/panel.hpp
namespace detail {
class TunedKernels;
}

/// The machine behind an executor. Sizes are in bytes; a member that does not apply is zero or empty.
struct Capabilities {
  Backend backend = Backend::Reference; ///< the backend that the executor belongs to
  std::string device;                   ///< the processor's or GPU's own name
  bool host_memory = true;              ///< device pointers are host pointers: nothing is ever copied
  std::size_t memory_bytes = 0;         ///< total memory of the device
  int threads = 1;                      ///< CPU: threads that a call uses if it does not name a number
  std::string instruction_set;          ///< CPU: the best one in use, e.g. "avx512"
  std::size_t l1_bytes = 0;             ///< CPU: data cache of one core
  std::size_t l2_bytes = 0;             ///< second-level cache of one core, or of the device
  std::size_t l3_bytes = 0;             ///< third-level cache that the core uses
  int device_index = 0;                 ///< CUDA: the device's number
  int compute_major = 0;                ///< CUDA: compute capability, or an earlier one that the plug-in's code is for
  int compute_minor = 0;                ///< CUDA: the second number of the compute capability
  int multiprocessors = 0;              ///< CUDA: number of multiprocessors
  std::size_t shared_memory_per_block = 0; ///< CUDA: with opt-in
  std::string driver;                      ///< CUDA: driver and runtime versions
  int kernel_revision = 1; ///< raised when kernels change their times; a tuning table is for one of them
  bool has_panels = false; ///< computes the steps of factorisations, panel()
};

/// A stream of work that is done in order. The destructor waits for the work.
class TESSERA_API Queue {
 public:
  /// Waits for the work.
  virtual ~Queue();
  /// Waits until the work that was enqueued is done. Returns its failure if it failed.
  virtual Status synchronize() noexcept = 0;
  virtual void* native() noexcept { return nullptr; } ///< cudaStream_t, or null

  /// Makes the work enqueued here later start after the work that is now in `stream`, a stream of this device that is
  /// not Tessera's (a cudaStream_t). The host does not wait. Like finish_before(), it does nothing where a queue's work
  /// is done when a call returns.
  virtual Status start_after(void* /*stream*/) noexcept { return {}; }
  /// Makes the work enqueued in `stream` later start after the work that is in this queue now.
  virtual Status finish_before(void* /*stream*/) noexcept { return {}; }

  /// Makes the work enqueued here later start after the recorded point of an event, which may be of another queue, of
  /// another executor, and recorded again later. A queue that cannot wait by itself makes the host wait.
  virtual Status wait(Event& event) noexcept;
};

/// A point in a queue's work at which the time is taken.
class TESSERA_API Event {
 public:
  /// Frees the event; it waits for nothing.
  virtual ~Event();
  /// Takes the time when the work that is in the queue now is done.
  virtual Status record(Queue& queue) noexcept = 0;
  /// Waits until the recorded point is reached.
  virtual Status synchronize() noexcept = 0;
  /// Waits for this event and gives the seconds from `start` to it. Both must have been recorded, on one executor.
  virtual Status seconds_since(const Event& start, double& seconds) noexcept = 0;
};

/// Element-wise operations. x, y and z are rows×cols, except that x is cols×rows for Transpose.
enum class MapOp : int {
  Fill = 0,      ///< z = alpha
  Identity = 1,  ///< z = alpha on the diagonal, 0 elsewhere
  Axpby = 2,     ///< z = fma(beta, y, alpha·x): a+b is (1, 1), a−b is (1, −1); z may be x or y
  Scale = 3,     ///< z = alpha·x; x may be z
  Multiply = 4,  ///< z = x·y, element by element
  Transpose = 5, ///< z = xᵀ; x and z do not overlap
  Convert = 6,   ///< z = x, whose elements are of x_type; x and z do not overlap

  // Operations on complex numbers. A number is two elements of `type`, f32 or f64, the real part first. rows, cols and
  // leading dimensions count complex numbers. x and z do not overlap, except that z may be x or y in CombineComplex.
  ExpandComplex = 7,  ///< z = op_x(x) as 2·rows rows of 2·cols elements: each number becomes [[re, im], [−im, re]]
  CopyComplex = 8,    ///< z = op_x(x)
  CombineComplex = 9, ///< z = alpha·x + beta·y in the order of complex.hpp; beta = 0 does not read y
};

/// Is this an operation on complex numbers?
constexpr bool is_complex(MapOp op) noexcept { return op >= MapOp::ExpandComplex && op <= MapOp::CombineComplex; }

/// The arguments of an element-wise operation; leading dimensions count elements. Operations on 16-bit elements compute
/// in f32 and round each element of z once; alpha and beta are then exact in f32.
struct MapCall {
  MapOp op = MapOp::Fill;       ///< the operation
  DType type = DType::F32;      ///< type of the elements
  Index rows = 0;               ///< rows of the result
  Index cols = 0;               ///< columns of the result
  double alpha = 1.0;           ///< factor of x, or the number to fill with
  double beta = 1.0;            ///< factor of y
  const void* x = nullptr;      ///< the first operand, which not every operation reads
  Index ldx = 0;                ///< elements from one row of x to the next
  const void* y = nullptr;      ///< the second operand; read by Axpby, Multiply and CombineComplex
  Index ldy = 0;                ///< elements from one row of y to the next
  void* z = nullptr;            ///< the result
  Index ldz = 0;                ///< elements from one row of z to the next
  int threads = 0;              ///< threads to use; 0: as many as the executor was made with
  DType x_type = type;          ///< type of x; read by Convert only
  Op op_x = Op::None;           ///< read by ExpandComplex and CopyComplex only
  double alpha_imaginary = 0.0; ///< read by CombineComplex only
  double beta_imaginary = 0.0;  ///< read by CombineComplex only
};

/// Where a copy that is enqueued goes. The values are part of the plug-in ABI.
enum class CopyDirection : int {
  In = 0,     ///< from host memory to the executor's
  Out = 1,    ///< from the executor's memory to the host's
  Within = 2, ///< from the executor's memory, or another executor's, to this executor's; they do not overlap
};

/// A copy of `rows` rows of `width` bytes. Pitches are bytes from one row to the next.
struct CopyCall {
  CopyDirection direction = CopyDirection::In; ///< where it goes
  void* to = nullptr;                          ///< the first byte to write
  std::size_t to_pitch = 0;                    ///< bytes from row to row of `to`
  const void* from = nullptr;                  ///< the first byte to read
  std::size_t from_pitch = 0;                  ///< bytes from row to row of `from`
  std::size_t width = 0;                       ///< bytes of a row
  std::size_t rows = 0;                        ///< number of rows
  Executor* source = nullptr;                  ///< Within: the executor whose memory `from` is; null: this one
};

/// How random numbers are distributed; `low` and `high` mean what the values say. The values are part of the plug-in
/// ABI. The type must hold `low` and `high` of Uniform and Integers, and a number in between, and the numbers up to six
/// deviations from the mean of Normal, which are the farthest: a call beyond that is InvalidArgument.
enum class Distribution : int {
  Uniform = 0,  ///< [low, high), for every type; low where the two are equal
  Normal = 1,   ///< mean low, standard deviation high; the sum of twelve uniforms (Irwin–Hall): same bits everywhere
  Integers = 2, ///< whole numbers low … high, both included
  Wide = 3,     ///< ±2^e·[1, 2), e a whole number low … high, both included: magnitudes log-uniform, both signs
  Special = 4, ///< a fraction `low` is NaN or ±Inf, a fraction `high` is ±0, subnormal, tiny or huge; others in [−1, 1)
};

/// Fills z with random numbers that depend on the seed and on (row, column, cols) alone; see random.hpp.
struct RandomCall {
  Distribution distribution = Distribution::Uniform; ///< how the numbers are distributed
  DType type = DType::F32;                           ///< type of the elements
  Index rows = 0;                                    ///< rows of the result
  Index cols = 0;                                    ///< columns of the result
  void* z = nullptr;                                 ///< the matrix to fill
  Index ldz = 0;                                     ///< elements from one row to the next
  std::uint64_t seed = 0;                            ///< the key of the generator
  double low = -1.0;                                 ///< the distribution's first number
  double high = 1.0;                                 ///< the distribution's second number
  int threads = 0;                                   ///< threads to use; 0: as many as the executor was made with
};

/// Runs the part [begin, end) of a loop. `context` is RangeCall's. Several threads call it at the same time, with parts
/// that do not overlap.
using RangeBody = void (*)(const void* context, Index begin, Index end) noexcept;

/// A loop over 0 … count − 1 in host memory, whose indices may run in any order and at the same time: a functor of the
/// caller's own (see user_kernel.hpp). A part has at least `grain` indices, except for the last one.
struct RangeCall {
  Index count = 0;               ///< the number of indices
  Index grain = 1;               ///< the fewest indices that are worth a thread's while; at least 1
  RangeBody body = nullptr;      ///< runs a part
  const void* context = nullptr; ///< what body gets
  int threads = 0;               ///< threads to use; 0: as many as the executor was made with
};

/// The speed of reading operands that one level of cache holds.
struct CacheCeiling {
  int level = 0;         ///< 1, 2, 3; 0: no such cache, or not measured
  std::size_t bytes = 0; ///< size of this level's caches of as many cores as there are threads; or of a device's L2
  double bytes_per_second = 0.0; ///< bytes read
};

/// The speed of multiply-adds in registers with one instruction set.
struct PeakCeiling {
  const char* instruction_set = nullptr; ///< as in Capabilities; null: none
  double flops = 0.0;                    ///< operations per second, two for each multiply-add
};

/// The highest speeds that were measured on the machine with a number of threads. 0: not measured.
struct Ceilings {
  double flops = 0.0;                   ///< multiply-adds in registers, counted as two operations each, per second
  double bytes_per_second = 0.0;        ///< memory traffic, bytes read plus bytes written
  std::array<CacheCeiling, 3> caches{}; ///< nearest first
  std::array<PeakCeiling, 3> peaks{};   ///< one for each instruction set of a processor
};

/// One device: its memory, its queues and its ladders. The comment of this header describes it.
class TESSERA_API Executor {
 public:
  /// Frees what the executor owns.
  virtual ~Executor();

  /// Describes the machine. The answer stays valid and does not change.
  virtual const Capabilities& capabilities() const noexcept = 0;

  /// Allocates device memory, aligned to at least 64 bytes. Work that is enqueued later, in any queue of the executor,
  /// may use it. On OutOfMemory `memory` is null and the executor stays usable.
  Status allocate(std::size_t bytes, void*& memory) noexcept;
  /// Frees memory that allocate() gave; null does nothing. Work that was enqueued before, in any queue of the executor,
  /// may still use it.
  void free(void* memory) noexcept;

  /// Copies `rows` rows of `width` bytes; pitches are bytes between rows. The copy is complete on return.
  Status copy_in(Queue& queue, void* device, std::size_t device_pitch, const void* host, std::size_t host_pitch,
                 std::size_t width, std::size_t rows) noexcept;
  /// Copies rows from the device to the host, as copy_in() copies them to the device.
  Status copy_out(Queue& queue, void* host, std::size_t host_pitch, const void* device, std::size_t device_pitch,
                  std::size_t width, std::size_t rows) noexcept;
  /// Enqueues a copy. Host memory that allocate_host() gave is in use until the queue has done the copy. Other host
  /// memory is in use for so long only where the program itself has page-locked it; else the call returns when the
  /// host's memory is no longer needed. Rejected if `source` is an executor whose memory this one does not reach; copy
  /// through the host then.
  Status enqueue_copy(Queue& queue, const CopyCall& call) noexcept;

  /// Allocates host memory that this executor's copies need not wait for (page-locked memory for a GPU, ordinary
  /// memory otherwise), aligned to at least 64 bytes. It is scarce: the system cannot move or swap it. On OutOfMemory
  /// `memory` is null.
  Status allocate_host(std::size_t bytes, void*& memory) noexcept;
  /// Frees memory that allocate_host() gave; null does nothing. No copy of it may be under way.
  void free_host(void* memory) noexcept;

  /// Returns the queue that matrices and gemm() use. It belongs to the executor.
  virtual Queue& default_queue() noexcept = 0;
  /// Makes another queue. On failure `queue` stays null.
  virtual Status create_queue(std::unique_ptr<Queue>& queue) noexcept = 0;
  /// Makes a queue of a stream of this device that is not Tessera's (a cudaStream_t, not one that is captured): work
  /// goes into the stream itself, between the work of others. The stream must outlive the queue. The queue cannot be
  /// recorded, and is not ordered with the executor's other queues, so that memory of allocate() and matrices need the
  /// caller's own order there. Rejected by an executor without streams. On failure `queue` stays null.
  virtual Status adopt_stream(void* stream, std::unique_ptr<Queue>& queue) noexcept;
  /// Makes an event. On failure `event` stays null.
  virtual Status create_event(std::unique_ptr<Event>& event) noexcept = 0;

  /// Returns the ladder of products, best kernel first. Kernels stay valid as long as the executor.
  virtual std::span<const GemmKernel> gemm_kernels() const noexcept = 0;
  /// Returns the ladder of reductions, best kernel first. Kernels stay valid as long as the executor.
  virtual std::span<const ReduceKernel> reduce_kernels() const noexcept = 0;

  /// Enqueues an element-wise operation.
  Status map(Queue& queue, const MapCall& call) noexcept;
  /// Enqueues a random fill.
  Status random(Queue& queue, const RandomCall& call) noexcept;
  /// Applies an epilogue in a separate pass after a product: z = epilogue(scale·x).
  Status finish(Queue& queue, const FinishCall& call) noexcept;

  /// Runs a loop of the caller's own on the host and returns when it is done. The base class runs it on the calling
  /// thread where the executor's memory is the host's, and else returns Rejected: a device runs no code of the host.
  virtual Status run_range(Queue& queue, const RangeCall& call) noexcept;

  /// Enqueues a step of a factorisation (panel.hpp), where Capabilities::has_panels. Rejected, before anything is
  /// written, where there are no such steps or the device cannot take one so large.
  Status panel(Queue& queue, const PanelCall& call) noexcept;

  /// Measures the ceilings for products of this type and mode; takes some 100 ms. threads = 0: the default number.
  virtual Status measure_ceilings(DType type, Math math, int threads, Ceilings& ceilings) noexcept = 0;

  /// Computes a product whose alpha or k is zero: C := beta·C, then the epilogue. beta = 0 writes zeros and does not
  /// read C.
  Status scale_result(Queue& queue, const GemmCall& call) noexcept;

  /// Checks the call (see check_gemm()) and runs one kernel of the ladder. If `kernel` is not empty it is the kernel of
  /// this name, and the call fails with the kernel's reason if the kernel rejects it. Otherwise it is the kernel that
  /// this machine's tuning table has for such a product (see tuning.hpp), or else the first kernel that does not reject
  /// the call (under Math::Strict the first one that keeps the contract).
  Status gemm(Queue& queue, const GemmCall& call, std::string_view kernel = {}) noexcept;

  /// Sets `chosen` to the kernel that gemm() would run for a checked call, or returns the reason why there is none.
  Status choose_kernel(const GemmCall& call, std::string_view kernel, const GemmKernel*& chosen) const;

  /// Computes all products of all groups, in any order, with the bits of gemm(); see batch.hpp. If `kernel` is empty
  /// the backend chooses how, in one launch or one parallel loop; a kernel that is named computes one product after
  /// another. All products are checked first: nothing is written if one is invalid.
  Status gemm_batch(Queue& queue, std::span<const GemmBatch> groups, std::string_view kernel = {}) noexcept;

  /// Runs one kernel of the ladder of reductions: the one called `kernel`, or the first one that keeps the contract and
  /// does not reject.
  Status reduce(Queue& queue, const ReduceCall& call, ReduceResult& result, std::string_view kernel = {}) noexcept;

  /// Sets the tuning table that gemm() looks into; null: gemm() goes by the ladder only. No product may be running.
  void use_tuning(std::shared_ptr<const detail::TunedKernels> kernels) noexcept { tuned_ = std::move(kernels); }

 protected:
  /// Does what allocate() does.
  virtual Status run_allocate(std::size_t bytes, void*& memory) noexcept = 0;
  /// Does what free() does.
  virtual void run_free(void* memory) noexcept = 0;
  /// Does what copy_in() does.
  virtual Status run_copy_in(Queue& queue, void* device, std::size_t device_pitch, const void* host,
                             std::size_t host_pitch, std::size_t width, std::size_t rows) noexcept = 0;
  /// Does what copy_out() does.
  virtual Status run_copy_out(Queue& queue, void* host, std::size_t host_pitch, const void* device,
                              std::size_t device_pitch, std::size_t width, std::size_t rows) noexcept = 0;
  /// Does what map() does.
  virtual Status run_map(Queue& queue, const MapCall& call) noexcept = 0;
  /// Does what random() does.
  virtual Status run_random(Queue& queue, const RandomCall& call) noexcept = 0;
  /// Does what finish() does.
  virtual Status run_finish(Queue& queue, const FinishCall& call) noexcept = 0;
  /// Does what enqueue_copy() does. In the base class the copy is complete on return, by run_copy_in() and
  /// run_copy_out(); within the executor's memory it goes through the host, and from another executor's it is Rejected.
  virtual Status run_enqueue_copy(Queue& queue, const CopyCall& call) noexcept;
  /// Does what allocate_host() does. In the base class it is ordinary memory.
  virtual Status run_allocate_host(std::size_t bytes, void*& memory) noexcept;
  /// Does what free_host() does.
  virtual void run_free_host(void* memory) noexcept;

  /// Computes the groups of a gemm_batch() that names no kernel. The groups were checked and have count, m, n, k > 0
  /// and alpha ≠ 0. The base class computes one product after another; a backend that overrides the method calls the
  /// base class for the groups that it cannot compute faster.
  virtual Status run_gemm_batch(Queue& queue, std::span<const GemmBatch> groups) noexcept;

  /// Says whether run_row_ends() takes the group, or why not (Rejected).
  virtual Status takes_row_ends(const GemmBatch& group) const;
  /// Computes a group whose rows end at numbers in this executor's memory. It was checked, has count, m, n > 0, and is
  /// one that takes_row_ends(). k or alpha may be 0; then C becomes beta·C.
  virtual Status run_row_ends(Queue& queue, const GemmBatch& group) noexcept;

  /// Does what panel() does, with rows and cols > 0. In the base class it is Rejected.
  virtual Status run_panel(Queue& queue, const PanelCall& call) noexcept;

  /// Computes one product after another with the kernel that gemm() chooses, or with the one called `kernel`. No
  /// product begins before every product has a kernel.
  Status gemm_one_by_one(Queue& queue, std::span<const GemmBatch> groups, std::string_view kernel = {});

 private:
  /// Does what gemm_batch() does for checked groups, of which some have ends of rows.
  Status gemm_batch_by_ends(Queue& queue, std::span<const GemmBatch> groups, std::string_view kernel);
  /// Runs the kernel, and then the part of the epilogue that the kernel does not apply.
  Status run_kernel(Queue& queue, const GemmKernel& kernel, const GemmCall& call);

  std::shared_ptr<const detail::TunedKernels> tuned_;
};

/// A rectangle of elements in memory.
struct StoredRows {
  const void* data = nullptr; ///< the first element
  Index rows = 0;             ///< number of rows
  Index cols = 0;             ///< number of columns
  Index ld = 0;               ///< elements from one row to the next
  std::size_t element = 0;    ///< bytes of an element
};

/// Do two rectangles share an element? The answer is exact for equal types and leading dimensions, where blocks beside
/// each other in one matrix interleave in memory; otherwise the address ranges are compared. The caller has checked the
/// sizes.
TESSERA_API bool overlap(const StoredRows& x, const StoredRows& y);

/// Checks sizes, leading dimensions, null pointers, overflow of size computations, and aliasing of C with A or B.
TESSERA_API Status check_gemm(const GemmCall& call);

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
