#include "device_stacks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tessera/linear_algebra/device_batch.hpp>

#include "bindings/python/array.hpp"
#include "bindings/python/arrays/device_place.hpp"
#include "bindings/python/errors.hpp"
#include "bindings/python/words.hpp"
#include "linear_algebra.hpp"
#include "system_batch.hpp"

namespace tessera::python {
namespace {

using Sizes = std::vector<Index>;

Index product_of(const Sizes& sizes) {
  Index product = 1;
  for (const Index size : sizes) product *= size;
  return product;
}

Sizes batch_of(const Array& array) {
  Sizes sizes;
  for (const Array::Axis& axis : array.batch) sizes.push_back(axis.size);
  return sizes;
}

/// Returns "(2, 3)", as Python writes it.
std::string tuple_text(const Sizes& sizes) {
  std::string text;
  for (std::size_t i = 0; i < sizes.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(sizes[i]);
  return "(" + text + (sizes.size() == 1 ? ",)" : ")");
}

/// Returns the batch that both have when they broadcast.
Sizes broadcast(const Array& a, const Array& b) {
  const Sizes of_a = batch_of(a), of_b = batch_of(b);
  Sizes sizes(std::max(of_a.size(), of_b.size()), 1);
  const auto join = [&](const Sizes& own) {
    for (std::size_t i = 0; i < own.size(); ++i) {
      Index& size = sizes[sizes.size() - own.size() + i];
      if (size != own[i] && size != 1 && own[i] != 1)
        throw InvalidArgument("solve: a has a batch of shape " + tuple_text(of_a) + " and b one of " +
                              tuple_text(of_b) + ", which do not broadcast");
      if (own[i] != 1) size = own[i];
    }
  };
  join(of_a);
  join(of_b);
  return sizes;
}

/// Are all elements at multiples of their size, as kernels read them?
bool has_whole_steps(const Array& array) {
  const Index element = array.element();
  return reinterpret_cast<std::uintptr_t>(array.data) % static_cast<std::uintptr_t>(element) == 0 &&
         array.row_stride % element == 0 && array.col_stride % element == 0 &&
         std::ranges::all_of(array.batch, [&](const Array::Axis& axis) { return axis.stride % element == 0; });
}

/// Matrices in a device's memory as a SystemsCall has them: at strides, or by pointers. Distances count numbers.
class StackPlace {
 public:
  StackPlace() = default;
  /// The matrices of an array, which are broadcast to `batch`.
  StackPlace(Executor& executor, const Array& array, const Sizes& batch)
      : ld_(array.row_stride / array.element()), step_(array.col_stride / array.element()), count_(product_of(batch)) {
    first_ = array.data;
    if (const auto stride = even_stride(array, batch))
      stride_ = *stride / array.element();
    else
      keep(executor, addresses(array, batch));
  }
  /// Matrices without gaps.
  StackPlace(void* data, Index rows, Index cols, Index count)
      : first_(static_cast<char*>(data)), ld_(std::max<Index>(cols, 1)), stride_(rows * cols), count_(count) {}

  /// Are all of them one matrix?
  bool is_shared() const { return !pointers_ && stride_ == 0 && count_ > 1; }
  StackPlace one() const {
    StackPlace first = *this;
    first.count_ = 1;
    return first;
  }
  /// Swaps rows and columns.
  StackPlace transposed() const {
    StackPlace turned = *this;
    std::swap(turned.ld_, turned.step_);
    return turned;
  }
  Index count() const { return count_; }

  void set_a(SystemsCall& call) const {
    call.a = first_;
    call.lda = ld_;
    call.stride_a = stride_;
    call.step_a = step_;
    call.all_a = pointers_ ? static_cast<void* const*>(pointers_->data()) : nullptr;
  }
  void set_b(SystemsCall& call) const {
    call.b = first_;
    call.ldb = ld_;
    call.stride_b = stride_;
  }

 private:
  /// Returns the bytes from one matrix to the next in dimension d of the batch.
  static Index stride_of(const Array& array, const Sizes& batch, std::size_t d) {
    const std::size_t missing = batch.size() - array.batch.size();
    return d < missing || array.batch[d - missing].size == 1 ? 0 : array.batch[d - missing].stride;
  }
  /// Returns the distance that all neighbours have, if they have one.
  static std::optional<Index> even_stride(const Array& array, const Sizes& batch) {
    Index stride = 0, count = 1;
    for (std::size_t d = batch.size(); d-- > 0; count *= batch[d]) {
      const Index own = stride_of(array, batch, d);
      if (batch[d] == 1) continue;
      if (count == 1) stride = own;
      if (own != stride * count) return std::nullopt;
    }
    return stride;
  }
  static std::vector<char*> addresses(const Array& array, const Sizes& batch) {
    std::vector<char*> all;
    all.reserve(static_cast<std::size_t>(product_of(batch)));
    Sizes index(batch.size(), 0);
    char* place = array.data;
    for (Index i = product_of(batch); i > 0; --i) {
      all.push_back(place);
      for (std::size_t d = batch.size(); d-- > 0;) {
        place += stride_of(array, batch, d);
        if (++index[d] < batch[d]) break;
        place -= stride_of(array, batch, d) * batch[d];
        index[d] = 0;
      }
    }
    return all;
  }
  /// Brings the addresses to the device.
  void keep(Executor& executor, const std::vector<char*>& all) {
    const std::size_t bytes = all.size() * sizeof(char*);
    pointers_ = std::make_shared<DeviceMemory>(executor, bytes);
    throw_if_failed(executor.copy_in(executor.default_queue(), pointers_->data(), bytes, all.data(), bytes, bytes, 1));
  }

  char* first_ = nullptr;
  Index ld_ = 1, step_ = 1, stride_ = 0, count_ = 0;
  std::shared_ptr<DeviceMemory> pointers_;
};

/// One call: it checks the arguments, and computes all systems in a few launches.
class StackedSystems {
 public:
  explicit StackedSystems(const StackArguments& arguments)
      : task_(parse_text(arguments.task, "task")),
        a_(arguments.a, "a", Array::Rank::Systems),
        is_lower_(parse_flag(arguments.lower, "lower")) {
    expect_solvable(a_);
    if (arguments.b != Py_None) {
      b_.emplace(arguments.b, "b", Array::Rank::BatchOfSides);
      expect_solvable(*b_);
      if (!(b_->type == a_.type))
        throw TypeError(std::string("a holds ") + dtype_name(a_.type) + " and b holds " + dtype_name(b_->type) +
                        "; both must have one type");
      expect_same_place(a_, *b_);
      if (b_->is_vector) { // a column
        std::swap(b_->rows, b_->cols);
        std::swap(b_->row_stride, b_->col_stride);
      }
    }
    static_cast<void>(parse_threads(arguments.threads));
    executor_ = &executor_of(a_, parse_backend(arguments.backend));
    if (arguments.stream != Py_None) stream_ = parse_stream(arguments.stream, "stream");
    check_shapes();
    batch_ = b_ ? broadcast(a_, *b_) : batch_of(a_);
    count_ = product_of(batch_);
  }

  PyObject* solve(PyObject* (*wrap)(DeviceArray&&)) {
    if (!has_whole_steps(a_) || (b_ && !has_whole_steps(*b_))) return Py_NewRef(Py_None);
    DeviceArray result(*executor_, a_.type, shape_of_result());
    const bool is_lu = task_ == "lu";
    const Index steps = std::min(a_.rows, a_.cols);
    const Reference pivots(
        is_lu ? checked(PyByteArray_FromStringAndSize(
                    nullptr, static_cast<Py_ssize_t>(count_ * steps * static_cast<Index>(sizeof(Index)))))
              : nullptr);
    char* const pivot_bytes = is_lu ? PyByteArray_AsString(pivots.get()) : nullptr;
    if (!compute(result.data(), pivot_bytes)) return Py_NewRef(Py_None);
    const Reference array(wrap(std::move(result)));
    return is_lu ? checked(PyTuple_Pack(2, array.get(), pivots.get())) : Py_NewRef(array.get());
  }

 private:
  void check_shapes() const {
    if (task_ != "lu" && a_.rows != a_.cols)
      throw InvalidArgument(word() + ": the matrices of a are " + std::to_string(a_.rows) + "×" +
                            std::to_string(a_.cols) + ", and must be square");
    if (b_ && b_->rows != a_.rows)
      throw InvalidArgument("solve: the matrices of a are " + std::to_string(a_.rows) + "×" + std::to_string(a_.cols) +
                            ", and b has " + std::to_string(b_->rows) + " rows; it must have " +
                            std::to_string(a_.rows));
    if (!b_ && (task_ == "solve" || task_ == "positive")) throw TypeError("b must be an array, not NoneType");
  }
  std::string word() const { return task_ == "positive" ? "solve" : task_; }
  bool is_positive() const { return task_ == "positive" || task_ == "cholesky"; }
  Sizes shape_of_result() const {
    Sizes shape = batch_;
    shape.push_back(a_.rows);
    if (!b_ || !b_->is_vector) shape.push_back(b_ ? b_->cols : a_.cols);
    return shape;
  }

  /// Computes all results. Says no where the device takes no such systems. Throws InvalidArgument where a system fails.
  bool compute(void* result, char* pivots) {
    const WithoutGil others_run;
    Queue& queue = executor_->default_queue();
    if (stream_ != nullptr) throw_if_failed(queue.start_after(stream_));
    std::vector<Index> info(static_cast<std::size_t>(count_));
    try {
      if (count_ > 0 && a_.rows > 0 && a_.cols > 0) compute(result, pivots, info);
    } catch (const KernelRejected&) {
      return false;
    }
    throw_if_failed(stream_ != nullptr ? queue.finish_before(stream_) : queue.synchronize());
    if (task_ != "lu") expect_all_done(word(), is_positive(), info, {batch_.begin(), batch_.end()});
    return true;
  }
  void compute(void* result, char* pivots, std::vector<Index>& info) {
    if (task_ == "lu") return factor(result, pivots, info);
    if (task_ == "cholesky") return factor_positive(result, info);
    const Index columns = b_ ? b_->cols : a_.cols;
    const StackPlace x(result, a_.rows, columns, count_);
    if (b_) copy(StackPlace(*executor_, *b_, batch_), b_->rows, columns, x);
    const StackPlace a(*executor_, a_, batch_);
    if (b_ && a.is_shared()) return solve_shared(a.one(), x, columns, info);
    std::optional<DeviceMemory> memory;
    StackPlace rows = a;
    if (!has_rows(a_)) {
      memory.emplace(*executor_, static_cast<std::size_t>(count_) * matrix_bytes());
      rows = StackPlace(memory->data(), a_.rows, a_.cols, count_);
      copy(a, a_.rows, a_.cols, rows);
    }
    SystemsCall call{.task = task_ == "inverse"    ? SystemsTask::Inverse
                             : task_ == "positive" ? SystemsTask::SolvePositive
                                                   : SystemsTask::Solve,
                     .columns = columns,
                     .count = count_,
                     .is_upper = !is_lower_};
    rows.set_a(call);
    x.set_b(call);
    run(call, info);
  }

  /// Factors copies that are made in the result.
  void factor(void* result, char* pivots, std::vector<Index>& info) {
    const StackPlace to(result, a_.rows, a_.cols, count_);
    copy(StackPlace(*executor_, a_, batch_), a_.rows, a_.cols, to);
    const Index steps = std::min(a_.rows, a_.cols);
    const std::size_t bytes = static_cast<std::size_t>(count_ * steps) * sizeof(Index);
    const DeviceMemory numbers(*executor_, bytes);
    SystemsCall call{
        .task = SystemsTask::Lu, .count = count_, .pivots = static_cast<Index*>(numbers.data()), .pivot_stride = steps};
    to.set_a(call);
    run(call, info);
    throw_if_failed(executor_->copy_out(executor_->default_queue(), pivots, bytes, numbers.data(), bytes, bytes, 1));
  }
  /// L of the lower triangle, or of the upper one's conjugate transpose.
  void factor_positive(void* result, std::vector<Index>& info) {
    const StackPlace to(result, a_.rows, a_.cols, count_), from(*executor_, a_, batch_);
    copy(is_lower_ ? from : from.transposed(), a_.rows, a_.cols, to, !is_lower_, true);
    SystemsCall call{.task = SystemsTask::Cholesky, .count = count_};
    to.set_a(call);
    run(call, info);
  }
  /// Factors the matrix that all systems have, and solves them with its factors.
  void solve_shared(const StackPlace& a, const StackPlace& x, Index columns, std::vector<Index>& info) {
    const bool by_cholesky = task_ == "positive";
    const Index n = a_.rows;
    const DeviceMemory matrix(*executor_, matrix_bytes()),
        numbers(*executor_, static_cast<std::size_t>(n) * sizeof(Index));
    const StackPlace factors(matrix.data(), n, n, 1);
    copy(by_cholesky && !is_lower_ ? a.transposed() : a, n, n, factors, by_cholesky && !is_lower_);
    SystemsCall call{.task = by_cholesky ? SystemsTask::Cholesky : SystemsTask::Lu,
                     .count = 1,
                     .pivots = static_cast<Index*>(numbers.data()),
                     .pivot_stride = n};
    factors.set_a(call);
    std::vector<Index> of_one(1);
    run(call, of_one);
    std::ranges::fill(info, of_one[0]);
    if (of_one[0] != 0) return;
    call.task = by_cholesky ? SystemsTask::CholeskySolve : SystemsTask::LuSolve;
    call.columns = columns;
    call.count = count_;
    call.stride_a = call.pivot_stride = 0;
    x.set_b(call);
    start(call, n, n);
  }

  /// Are the rows of an array's matrices neighbouring elements, without overlap?
  static bool has_rows(const Array& array) {
    const Index element = array.element();
    return (array.cols <= 1 || array.col_stride == element) &&
           (array.rows <= 1 || array.row_stride >= std::max<Index>(array.cols, 1) * element);
  }
  std::size_t matrix_bytes() const { return static_cast<std::size_t>(a_.rows * a_.cols) * a_.type.bytes(); }
  void copy(const StackPlace& from, Index rows, Index cols, const StackPlace& to, bool conjugates = false,
            bool clears_upper = false) const {
    SystemsCall call{
        .task = SystemsTask::Copy, .count = to.count(), .is_conjugated = conjugates, .clears_upper = clears_upper};
    from.set_a(call);
    to.set_b(call);
    if (rows > 0 && cols > 0) start(call, rows, cols);
  }
  void start(const SystemsCall& call, Index rows, Index cols) const {
    tessera::detail::run_systems(*executor_, executor_->default_queue(), a_.type, rows, cols, call);
  }
  /// Runs a task, and waits for what it says of the systems.
  void run(SystemsCall& call, std::vector<Index>& info) const {
    const std::size_t bytes = info.size() * sizeof(Index);
    const DeviceMemory numbers(*executor_, bytes);
    call.info = static_cast<Index*>(numbers.data());
    // A matrix of one row has no distance of rows that counts.
    call.lda = a_.rows <= 1 ? std::max(call.lda, a_.cols) : call.lda;
    start(call, a_.rows, a_.cols);
    throw_if_failed(
        executor_->copy_out(executor_->default_queue(), info.data(), bytes, numbers.data(), bytes, bytes, 1));
  }

  std::string task_;
  Array a_;
  std::optional<Array> b_;
  bool is_lower_;
  Executor* executor_ = nullptr;
  void* stream_ = nullptr; ///< the caller's; null: the work is done on return
  Sizes batch_;
  Index count_ = 0;
};

} // namespace

PyObject* solve_device_stacks(const StackArguments& arguments, PyObject* (*wrap)(DeviceArray&&)) {
  return StackedSystems(arguments).solve(wrap);
}

} // namespace tessera::python
