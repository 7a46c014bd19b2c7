#pragma once

/// What a backend implements.
///
/// An Executor owns one device's memory and its default queue. It hands out memory, copies between host and
/// device, runs element-wise operations and reductions, and shows its ladder of GEMM kernels:
///
///     Executor& cuda = tessera::executor(Backend::Cuda);   // loads the plug-in; throws with the reason
///     void* p = nullptr;
///     throw_if_failed(cuda.allocate(bytes, p));
///     throw_if_failed(cuda.gemm(cuda.default_queue(), call));
///
/// Most programs never see one: Matrix and gemm() use it for them.
///
/// Every virtual method is noexcept and reports through Status; only libtessera throws. An executor may be used
/// by several threads at once; a queue by one at a time.
///
/// Idea: ginkgo's Executor (memory and queue belong to it), without double dispatch between devices: copies
/// between two devices go through the host, in libtessera.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <tessera/backend/kernel.hpp>
#include <tessera/batch.hpp>
#include <tessera/status.hpp>
#include <tessera/types.hpp>

namespace tessera {

namespace detail {
class TunedRows;
}

/// What the machine behind an executor can do. Sizes in bytes; zero or empty where it does not apply.
struct Capabilities {
  Backend backend = Backend::Reference;
  std::string device;           ///< the processor's or card's own name
  bool host_memory = true;      ///< device pointers are host pointers: nothing is ever copied
  std::size_t memory_bytes = 0; ///< total memory of the device
  int threads = 1;              ///< CPU: threads that a call uses unless it says its own number
  std::string instruction_set;  ///< CPU: the best one in use, e.g. "avx512"
  std::size_t l1_bytes = 0;     ///< CPU: data cache of one core
  std::size_t l2_bytes = 0;
  std::size_t l3_bytes = 0;
  int device_index = 0;  ///< CUDA: the device's number
  int compute_major = 0; ///< CUDA: compute capability, or an earlier one that the plug-in's code is for
  int compute_minor = 0;
  int multiprocessors = 0;
  std::size_t shared_memory_per_block = 0; ///< CUDA: with opt-in
  std::string driver;                      ///< CUDA: driver and runtime versions
};

/// A stream of work in order. Destroying one waits for its work.
class TESSERA_API Queue {
 public:
  virtual ~Queue();
  virtual Status synchronize() noexcept = 0;
  virtual void* native() noexcept { return nullptr; } ///< cudaStream_t, or null

  /// Orders against a stream of the same device that is not Tessera's (a cudaStream_t), without waiting: what is
  /// enqueued here from now on starts after what is in the stream; or the other way round. Nothing to do where a
  /// queue's work is done when a call returns.
  virtual Status start_after(void* /*stream*/) noexcept { return {}; }
  virtual Status finish_before(void* /*stream*/) noexcept { return {}; }
};

/// A point in a queue's work, with a clock.
class TESSERA_API Event {
 public:
  virtual ~Event();
  virtual Status record(Queue& queue) noexcept = 0;
  virtual Status synchronize() noexcept = 0;
  /// Seconds from `start` (same executor) to this one; both must have been recorded. Waits for this one.
  virtual Status seconds_since(const Event& start, double& seconds) noexcept = 0;
};

/// Element-wise operations. z is rows×cols; x and y likewise, but x is cols×rows for Transpose.
enum class MapOp : int {
  Fill = 0,      ///< z = alpha
  Identity = 1,  ///< z = alpha on the diagonal, 0 elsewhere
  Axpby = 2,     ///< z = fma(beta, y, alpha·x): a+b is (1, 1), a−b is (1, −1); z may be x or y
  Scale = 3,     ///< z = alpha·x; x may be z
  Multiply = 4,  ///< z = x·y, element by element
  Transpose = 5, ///< z = xᵀ; x and z do not overlap
  Convert = 6,   ///< z = x, whose elements are of x_type; x and z do not overlap

  // Of complex numbers: two elements of `type` each, which is f32 or f64, the real part first. rows, cols and leading
  // dimensions count complex numbers. x and z do not overlap, but that z may be x or y in CombineComplex.
  ExpandComplex = 7,  ///< z = op_x(x) as 2·rows rows of 2·cols elements: each number becomes [[re, im], [−im, re]]
  CopyComplex = 8,    ///< z = op_x(x)
  CombineComplex = 9, ///< z = alpha·x + beta·y in the order of complex.hpp; beta = 0 does not read y
};

constexpr bool is_complex(MapOp op) noexcept { return op >= MapOp::ExpandComplex && op <= MapOp::CombineComplex; }

/// Operations on 16-bit elements compute in f32 and round each element of z once. alpha and beta are then exact in f32.
struct MapCall {
  MapOp op = MapOp::Fill;
  DType type = DType::F32;
  Index rows = 0;
  Index cols = 0;
  double alpha = 1.0;
  double beta = 1.0;
  const void* x = nullptr;
  Index ldx = 0;
  const void* y = nullptr;
  Index ldy = 0;
  void* z = nullptr;
  Index ldz = 0;
  int threads = 0;
  DType x_type = type;          ///< of x; read by Convert alone
  Op op_x = Op::None;           ///< read by ExpandComplex and CopyComplex alone
  double alpha_imaginary = 0.0; ///< read by CombineComplex alone
  double beta_imaginary = 0.0;
};

enum class Distribution : int {
  Uniform = 0,  ///< [low, high)
  Normal = 1,   ///< mean low, standard deviation high; the sum of twelve uniforms (Irwin–Hall): same bits everywhere
  Integers = 2, ///< whole numbers low … high, both included
  Wide = 3,     ///< ±2^e·[1, 2), e a whole number low … high, both included: magnitudes log-uniform, both signs
  Special = 4, ///< a share `low` of NaN and ±Inf, a share `high` of ±0, subnormal, tiny and huge numbers; else [−1, 1)
};

/// Fills z with random numbers that depend on the seed and on (row, column, cols) alone; see random.hpp.
struct RandomCall {
  Distribution distribution = Distribution::Uniform;
  DType type = DType::F32;
  Index rows = 0;
  Index cols = 0;
  void* z = nullptr;
  Index ldz = 0;
  std::uint64_t seed = 0;
  double low = -1.0;
  double high = 1.0;
  int threads = 0;
};

/// Reading what a cache holds.
struct CacheCeiling {
  int level = 0;         ///< 1, 2, 3; 0: no such cache, or not measured
  std::size_t bytes = 0; ///< held by the caches of this level of as many cores as there are threads; or a device's L2
  double bytes_per_second = 0.0; ///< bytes read
};

/// Multiply-adds in registers with one instruction set.
struct PeakCeiling {
  const char* instruction_set = nullptr; ///< as in Capabilities; null: none
  double flops = 0.0;
};

/// What the machine can do at most, as measured, with a number of threads. 0: not measured.
struct Ceilings {
  double flops = 0.0;                   ///< multiply-adds in registers, counted as two operations each, per second
  double bytes_per_second = 0.0;        ///< memory traffic, bytes read plus bytes written
  std::array<CacheCeiling, 3> caches{}; ///< nearest first
  std::array<PeakCeiling, 3> peaks{};   ///< of a processor, each instruction set that it has
};

class TESSERA_API Executor {
 public:
  virtual ~Executor();

  virtual const Capabilities& capabilities() const noexcept = 0;

  /// Device memory, aligned to at least 64 bytes. On OutOfMemory `memory` is null and the executor stays usable.
  virtual Status allocate(std::size_t bytes, void*& memory) noexcept = 0;
  virtual void free(void* memory) noexcept = 0;

  /// Copies `rows` rows of `width` bytes; pitches are bytes between rows. Complete when the call returns.
  virtual Status copy_in(Queue& queue, void* device, std::size_t device_pitch, const void* host, std::size_t host_pitch,
                         std::size_t width, std::size_t rows) noexcept = 0;
  virtual Status copy_out(Queue& queue, void* host, std::size_t host_pitch, const void* device,
                          std::size_t device_pitch, std::size_t width, std::size_t rows) noexcept = 0;

  virtual Queue& default_queue() noexcept = 0;
  virtual Status create_queue(std::unique_ptr<Queue>& queue) noexcept = 0;
  virtual Status create_event(std::unique_ptr<Event>& event) noexcept = 0;

  /// The ladder, best first. Rows stay valid as long as the executor.
  virtual std::span<const GemmKernel> gemm_kernels() const noexcept = 0;
  virtual std::span<const ReduceKernel> reduce_kernels() const noexcept = 0;

  virtual Status map(Queue& queue, const MapCall& call) noexcept = 0;
  virtual Status random(Queue& queue, const RandomCall& call) noexcept = 0;

  /// What comes after a product, as a pass of its own: z = epilogue(scale·x).
  virtual Status finish(Queue& queue, const FinishCall& call) noexcept = 0;

  /// Measures the ceilings for products of this type and mode; takes some 100 ms. threads = 0: the default number.
  virtual Status measure_ceilings(DType type, Math math, int threads, Ceilings& ceilings) noexcept = 0;

  /// C := beta·C (beta = 0 writes zeros without reading) and its epilogue: what is left of a product when alpha or k is
  /// zero.
  Status scale_result(Queue& queue, const GemmCall& call) noexcept;

  /// Runs the row that this machine's tuning table has for such a product (see tuning.hpp), else the first row of the
  /// ladder that does not reject (under Math::Strict: the first canonical one), or the row called `kernel`, which is
  /// run or the call fails with the row's reason. Checks the call first; see check_gemm().
  Status gemm(Queue& queue, const GemmCall& call, std::string_view kernel = {}) noexcept;

  /// All products of all groups, in any order; see batch.hpp. Without a name a backend does them in its own way, in one
  /// launch or one parallel loop; a row that is named, one after another. The bits are those of gemm(). Checks all of
  /// them first: nothing is written if one is wrong.
  Status gemm_batch(Queue& queue, std::span<const GemmBatch> groups, std::string_view kernel = {}) noexcept;

  /// The same for reductions: without a name the first canonical row.
  Status reduce(Queue& queue, const ReduceCall& call, ReduceResult& result, std::string_view kernel = {}) noexcept;

  /// Null: by the ladder alone. Not while products run.
  void use_tuning(std::shared_ptr<const detail::TunedRows> rows) noexcept { tuned_ = std::move(rows); }

 protected:
  /// What gemm_batch() leaves to do, for no name: groups that were checked, with count, m, n, k > 0 and alpha ≠ 0. Here
  /// one product after another; a backend leaves to this what it cannot do better.
  virtual Status run_gemm_batch(Queue& queue, std::span<const GemmBatch> groups) noexcept;

  /// One product after another by gemm()'s choice of row, or that row. No product is begun before each has a row.
  Status gemm_one_by_one(Queue& queue, std::span<const GemmBatch> groups, std::string_view kernel = {});

 private:
  /// The row's product, and what it leaves of the epilogue.
  Status run_row(Queue& queue, const GemmKernel& row, const GemmCall& call);
  Status choose_row(const GemmCall& call, std::string_view kernel, const GemmKernel*& row) const;

  std::shared_ptr<const detail::TunedRows> tuned_;
};

/// Rows of elements as they are stored.
struct StoredRows {
  const void* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index ld = 0;
  std::size_t element = 0; ///< bytes
};

/// Do two rectangles share an element? Exact for equal types and leading dimensions, where side-by-side blocks of one
/// matrix interleave in memory; by address range otherwise. Sizes were checked before.
TESSERA_API bool overlap(const StoredRows& x, const StoredRows& y);

/// Sizes, leading dimensions, null pointers, overflow of size computations, aliasing of C with A or B.
TESSERA_API Status check_gemm(const GemmCall& call);

} // namespace tessera
