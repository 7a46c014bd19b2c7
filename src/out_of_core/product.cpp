/// The way of a product of files: check, plan, find what an earlier call has left, compute, complete.

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>

#include <tessera/backend/log.hpp>
#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/file_product.hpp>

#include "block_writer.hpp"
#include "dispatch/placement.hpp"
#include "gemm/check_gemm.hpp"
#include "gemm/streamed_gemm.hpp"
#include "host_blocks.hpp"
#include "io/npy_header.hpp"
#include "journal.hpp"
#include "npy_file.hpp"
#include "plan.hpp"
#include "read_ahead.hpp"
#include "unfinished.hpp"

namespace tessera {
namespace out_of_core {
namespace {

using tessera::detail::BlockOfC;
using tessera::detail::BlockTarget;
using tessera::detail::SharedBlocks;
using tessera::detail::StreamedBlocks;
using tessera::detail::StreamedProduct;

constexpr std::string_view block_rows = "block rows", block_columns = "block columns";

/// Returns the shortest text that gives the same number.
std::string text_of_number(double value) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

/// An executor's part in the product.
struct Worker {
  Executor* executor = nullptr;
  std::unique_ptr<StreamedProduct> device; ///< of an executor with memory of its own
  std::unique_ptr<HostBlocks> host;        ///< of an executor of the host
  std::unique_ptr<ReadAhead> source;
  std::unique_ptr<BlockTarget> target;
};

/// A product that is checked and planned.
class Run {
 public:
  explicit Run(const FileProduct& product);

  FileProductPlan plan() const;
  FileProductReport compute();

 private:
  void check_types();
  void check_shapes();
  void check_output();
  void find_executors();
  void measure_devices();
  void look_for_unfinished();
  Facts facts() const;
  Status allocate(SharedBlocks& blocks, BlockWriter& writer);
  void multiply(SharedBlocks& blocks);
  void work(Worker& worker, SharedBlocks& blocks) noexcept;
  Status scale_only(Worker& worker, SharedBlocks& blocks);
  void tell(double operations, Index blocks, std::uint64_t written);
  std::uint64_t bytes_read() const;

  const FileProduct& asked_;
  NpyFile a_, b_;
  std::optional<NpyFile> c_;
  Unfinished unfinished_;
  Sizes sizes_;
  GemmCall call_; ///< of the sums
  std::vector<Worker> workers_;
  Plan plan_;
  std::string header_;
  bool goes_on_ = false;
  Recorded recorded_;
  std::vector<bool> done_;

  std::size_t allocated_ = 0;
  std::atomic<bool> written_ = false;
  std::mutex telling_;
  FileProductProgress progress_;
};

Run::Run(const FileProduct& product) : asked_(product), a_(product.a), b_(product.b), unfinished_(product.out) {
  if (asked_.memory_limit == 0)
    throw InvalidArgument("memory_limit = 0: a product of files needs a limit of memory, in bytes");
  if ((asked_.beta != 0.0) == asked_.c.empty())
    throw InvalidArgument(asked_.beta != 0.0 ? "beta = " + text_of_number(asked_.beta) + " needs a file of C to add to"
                                             : "c = " + asked_.c.string() + " is read only if beta is not 0");
  if (asked_.beta != 0.0) c_.emplace(asked_.c);
  check_types();
  check_shapes();
  check_output();
  find_executors();
  measure_devices();
  header_ = io::npy_header_of(sizes_.result, sizes_.m, sizes_.n);
  look_for_unfinished();
  if (!goes_on_) plan_ = choose_plan(sizes_, asked_.memory_limit);
  done_.assign(static_cast<std::size_t>(plan_.grid.count()), false);
  for (const Index number : recorded_.done) {
    if (number >= plan_.grid.count())
      throw InvalidArgument("the journal of " + asked_.out.string() + " says that block " + std::to_string(number) +
                            " is done, and there are " + std::to_string(plan_.grid.count()) + "; start over");
    done_[static_cast<std::size_t>(number)] = true;
  }
  recorded_.done = {};
}

void Run::check_types() {
  const auto holds = [](const std::filesystem::path& path, DType type) {
    return path.string() + " holds " + std::string(to_string(type));
  };
  sizes_.type = a_.info().type;
  sizes_.result = asked_.result.value_or(sizes_.type);
  if (b_.info().type != sizes_.type)
    throw InvalidArgument(holds(asked_.b, b_.info().type) + ", but " + holds(asked_.a, sizes_.type) +
                          "; both must be the same");
  if (!is_result_of(sizes_.result, sizes_.type))
    throw InvalidArgument("the result cannot be " + std::string(to_string(sizes_.result)) + ", because " +
                          holds(asked_.a, sizes_.type));
  if (c_ && c_->info().type != sizes_.result)
    throw InvalidArgument(holds(asked_.c, c_->info().type) + ", but the result is " +
                          std::string(to_string(sizes_.result)));
  for (const auto& [name, value] : {std::pair{"alpha", asked_.alpha}, std::pair{"beta", asked_.beta}})
    if (sizes_.sums() == DType::F32 && static_cast<double>(static_cast<float>(value)) != value && value == value)
      throw InvalidArgument(std::string(name) + " = " + text_of_number(value) + " is not exact in f32");
  if (asked_.op_a == Op::ConjugateTranspose || asked_.op_b == Op::ConjugateTranspose)
    throw InvalidArgument("a conjugate transpose is for complex matrices, and files have real ones");
  if (asked_.threads < 0)
    throw InvalidArgument("threads = " + std::to_string(asked_.threads) + " is negative; 0 means the default");
}

void Run::check_shapes() {
  const bool flip_a = asked_.op_a == Op::Transpose, flip_b = asked_.op_b == Op::Transpose;
  const NpyInfo &a = a_.info(), &b = b_.info();
  sizes_.m = flip_a ? a.cols : a.rows;
  sizes_.k = flip_a ? a.rows : a.cols;
  sizes_.n = flip_b ? b.rows : b.cols;
  if (const std::string why = inner_mismatch(sizes_.m, sizes_.k, flip_b ? b.cols : b.rows, sizes_.n); !why.empty())
    throw InvalidArgument(why);
  if (c_ && (c_->info().rows != sizes_.m || c_->info().cols != sizes_.n))
    throw InvalidArgument("c is " + std::to_string(c_->info().rows) + "×" + std::to_string(c_->info().cols) +
                          ", and the product is " + std::to_string(sizes_.m) + "×" + std::to_string(sizes_.n));
  sizes_.op_a = a_.stored_op(asked_.op_a);
  sizes_.op_b = b_.stored_op(asked_.op_b);
  sizes_.multiplies = asked_.alpha != 0.0 && sizes_.k > 0;
  sizes_.reads_c = c_.has_value();
  sizes_.c_in_columns = c_ && c_->info().fortran_order;
  call_ = {.type = sizes_.type,
           .math = asked_.math,
           .op_a = sizes_.op_a,
           .op_b = sizes_.op_b,
           .m = sizes_.m,
           .n = sizes_.n,
           .k = sizes_.k,
           .threads = asked_.threads,
           .result = sizes_.sums()};
}

/// C may be the output: its old values are read until the new ones take its name. A and B may not, because a product
/// that was stopped would not find them again.
void Run::check_output() {
  const io::OutputTarget& target = unfinished_.target();
  for (const auto& [name, file] : {std::pair{"a", &a_}, std::pair{"b", &b_}})
    if (target.exists && file->is(target.status))
      throw InvalidArgument("out = " + asked_.out.string() + " is the file of " + name + ", " + file->path().string() +
                            "; write to another one");
}

void Run::find_executors() {
  std::vector<Executor*> executors = asked_.executors;
  if (executors.empty())
    executors.push_back(&place_gemm(Backend::Auto, {sizes_.type, asked_.math, sizes_.m, sizes_.n, sizes_.k}, {}));
  tessera::detail::check_executors(executors);
  sizes_.on_host = 0;
  for (Executor* executor : executors) {
    workers_.push_back({});
    workers_.back().executor = executor;
    ++(executor->capabilities().host_memory ? sizes_.on_host : sizes_.on_devices);
  }
}

/// Finds out how large blocks may be for every device to hold them.
void Run::measure_devices() {
  if (!sizes_.multiplies || sizes_.m == 0 || sizes_.n == 0) return;
  for (Worker& worker : workers_) {
    if (worker.executor->capabilities().host_memory) continue;
    worker.device = std::make_unique<StreamedProduct>(*worker.executor, call_, asked_.kernel);
    if (Status status = worker.device->reserve(); !status.ok()) {
      status.why = tessera::detail::name_of(*worker.executor) + ": " + status.why;
      throw_if_failed(status);
    }
    const StreamedBlocks& blocks = worker.device->blocks();
    sizes_.most_m = sizes_.most_m == 0 ? blocks.m : std::min(sizes_.most_m, blocks.m);
    sizes_.most_n = sizes_.most_n == 0 ? blocks.n : std::min(sizes_.most_n, blocks.n);
  }
}

Facts Run::facts() const {
  Facts all{{"a", a_.identity()},
            {"b", b_.identity()},
            {"c", c_ ? c_->identity() : "none"},
            {"transpose of a", asked_.op_a == Op::None ? "no" : "yes"},
            {"transpose of b", asked_.op_b == Op::None ? "no" : "yes"},
            {"alpha", text_of_number(asked_.alpha)},
            {"beta", text_of_number(asked_.beta)},
            {"type of the result", std::string(to_string(sizes_.result))},
            {"math", std::string(to_string(asked_.math))},
            {"kernel", asked_.kernel.empty() ? "any" : asked_.kernel}};
  if (asked_.math != Math::Strict || !asked_.kernel.empty()) { // the bits may depend on the backend
    std::string names;
    for (const Worker& worker : workers_)
      names.append(names.empty() ? "" : " ").append(to_string(worker.executor->capabilities().backend));
    all.emplace_back("backends", names);
  }
  all.emplace_back(block_rows, std::to_string(plan_.grid.block_m));
  all.emplace_back(block_columns, std::to_string(plan_.grid.block_n));
  return all;
}

/// Takes over the blocks of an unfinished product, if it is this one. Throws if it is another one.
void Run::look_for_unfinished() {
  const std::uint64_t bytes = header_.size() + static_cast<std::uint64_t>(sizes_.m * sizes_.n) * size_of(sizes_.result);
  if (asked_.start_over || !unfinished_.find(header_, bytes, recorded_)) {
    recorded_ = {};
    return;
  }
  const std::string out = asked_.out.string();
  constexpr std::string_view free[]{block_rows, block_columns};
  if (const std::string why = difference(recorded_.facts, facts(), free); !why.empty())
    throw InvalidArgument("an unfinished product of " + out + " is another one: " + why +
                          "; finish it with what it began with, or start over");
  if (recorded_.done.empty())
    throw IoError("the blocks of an unfinished product of " + out +
                  " do not have the size and the header that they were written with; start over");
  const auto number = [&](std::string_view name) {
    const std::string_view text = value_of(recorded_.facts, name);
    Index value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    if (value < 1) throw InvalidArgument("the journal of " + out + " has no " + std::string(name) + "; start over");
    return value;
  };
  const Plan recorded = plan_of_blocks(sizes_, number(block_rows), number(block_columns), asked_.memory_limit);
  const std::string blocks = "the unfinished product of " + out + " has blocks of " +
                             std::string(value_of(recorded_.facts, block_rows)) + "×" +
                             std::string(value_of(recorded_.facts, block_columns));
  if (const std::size_t needed = recorded.bytes(sizes_); needed > asked_.memory_limit)
    throw OutOfMemory(blocks + ", which need " + std::to_string(needed) + " bytes, and memory_limit is " +
                      std::to_string(asked_.memory_limit) + "; raise the limit, or start over");
  if ((sizes_.most_m > 0 && recorded.grid.block_m > sizes_.most_m) ||
      (sizes_.most_n > 0 && recorded.grid.block_n > sizes_.most_n))
    throw OutOfMemory(blocks + ", and the devices have memory for blocks of " + std::to_string(sizes_.most_m) + "×" +
                      std::to_string(sizes_.most_n) + "; use the executors that it began with, or start over");
  plan_ = recorded;
  goes_on_ = true;
}

FileProductPlan Run::plan() const {
  return {.type = sizes_.type,
          .result = sizes_.result,
          .m = sizes_.m,
          .n = sizes_.n,
          .k = sizes_.k,
          .block_m = plan_.grid.block_m,
          .block_n = plan_.grid.block_n,
          .blocks = plan_.grid.count(),
          .blocks_done = static_cast<Index>(std::count(done_.begin(), done_.end(), true)),
          .depth_a = plan_.depth_a,
          .depth_b = plan_.depth_b,
          .planned_bytes = plan_.bytes(sizes_),
          .bytes_to_read = bytes_to_read(sizes_, plan_.grid, done_),
          .bytes_to_write = bytes_to_write(sizes_, plan_.grid, done_)};
}

std::uint64_t Run::bytes_read() const { return a_.bytes_read() + b_.bytes_read() + (c_ ? c_->bytes_read() : 0); }

void Run::tell(double operations, Index blocks, std::uint64_t written) {
  const std::lock_guard lock(telling_);
  progress_.operations_done += operations;
  progress_.blocks_done += blocks;
  progress_.bytes_read = bytes_read();
  progress_.bytes_written = std::max(progress_.bytes_written, written);
  if (asked_.progress) asked_.progress(progress_);
}

/// Allocates everything, so that a shortage shows before anything is written.
Status Run::allocate(SharedBlocks& blocks, BlockWriter& writer) {
  if (Status status = writer.allocate(allocated_); !status.ok()) return status;
  if (!sizes_.multiplies) workers_.resize(1);
  for (Worker& worker : workers_) {
    Executor& executor = *worker.executor;
    if (Status status = writer.make_target(executor, worker.target, allocated_); !status.ok()) return status;
    if (!sizes_.multiplies) continue;
    worker.source = std::make_unique<ReadAhead>(
        executor, blocks, SlicedFile{&a_, true, sizes_.op_a, plan_.depth_a, plan_.slice_a_bytes(sizes_)},
        SlicedFile{&b_, false, sizes_.op_b, plan_.depth_b, plan_.slice_b_bytes(sizes_)}, sizes_.k,
        sizes_.reading_threads(), [this](double operations) { tell(operations, 0, 0); });
    if (Status status = worker.source->allocate(allocated_); !status.ok()) return status;
    if (worker.device != nullptr) {
      const StreamedBlocks on_device{plan_.grid.block_m, plan_.grid.block_n, std::min(sizes_.k, canonical_segment)};
      if (Status status = worker.device->reserve(on_device); !status.ok()) return status;
      continue;
    }
    worker.host = std::make_unique<HostBlocks>(executor, call_, asked_.kernel, sizes_, plan_);
    if (Status status = worker.host->allocate(allocated_); !status.ok()) return status;
  }
  return {};
}

/// Hands over blocks without sums, which become beta·C.
Status Run::scale_only(Worker& worker, SharedBlocks& blocks) {
  for (BlockOfC block; blocks.take(block);)
    for (Index row = 0; row < block.rows;) {
      Index rows = block.rows - row, ld = 0;
      void* unused = nullptr;
      if (Status status = worker.target->place(block, row, rows, unused, ld); !status.ok()) return status;
      if (Status status = worker.target->take(block, row, rows); !status.ok()) return status;
      row += rows;
    }
  return {};
}

void Run::work(Worker& worker, SharedBlocks& blocks) noexcept {
  const tessera::detail::ContractArithmetic contract;
  Status status;
  try {
    if (worker.source != nullptr) worker.source->start();
    if (!sizes_.multiplies)
      status = scale_only(worker, blocks);
    else if (worker.device != nullptr)
      status = worker.device->run(*worker.source, *worker.target, written_);
    else
      status = worker.host->run(*worker.source, *worker.target);
    if (!status.ok() && status.code != StatusCode::IoError)
      status.why = tessera::detail::name_of(*worker.executor) + ": " + status.why;
  } catch (const std::bad_alloc& error) {
    status = out_of_memory(error);
  }
  if (!status.ok()) blocks.fail(std::move(status));
}

/// The calling thread works for the first executor. Where the system refuses a thread, the others compute its blocks.
void Run::multiply(SharedBlocks& blocks) {
  std::vector<std::thread> threads;
  threads.reserve(workers_.size());
  for (Worker& worker : workers_) try {
      if (&worker == &workers_.front()) continue;
      threads.emplace_back([this, &worker, &blocks] { work(worker, blocks); });
    } catch (const std::system_error& error) {
      if (log_dispatch()) log_line(std::string("no thread for one of the executors: ") + error.what());
    } catch (const std::bad_alloc&) { // as if the system had no thread
    }
  work(workers_.front(), blocks);
  for (std::thread& thread : threads) thread.join();
}

FileProductReport Run::compute() {
  const measure::HostStopwatch watch;
  FileProductReport report{.plan = plan()};
  if (log_dispatch())
    log_line("product of files " + std::to_string(sizes_.m) + "×" + std::to_string(sizes_.n) + "×" +
             std::to_string(sizes_.k) + ": blocks of " + std::to_string(plan_.grid.block_m) + "×" +
             std::to_string(plan_.grid.block_n) + ", A read " + std::to_string(plan_.depth_a) + " and B " +
             std::to_string(plan_.depth_b) + " k at a time, " + std::to_string(report.plan.planned_bytes) +
             " bytes of memory, limit " + std::to_string(asked_.memory_limit) + ", " +
             std::to_string(report.plan.bytes_to_read) + " bytes to read, " +
             std::to_string(report.plan.bytes_to_write) + " to write, " + std::to_string(report.plan.blocks_done) +
             " of " + std::to_string(report.plan.blocks) + " blocks done before");
  SharedBlocks blocks(plan_.grid, done_);
  std::vector<const NpyFile*> operands{&a_, &b_};
  if (c_) operands.push_back(&*c_);
  BlockWriter writer(sizes_, plan_, {asked_.alpha, asked_.beta, c_ ? &*c_ : nullptr, operands}, blocks, unfinished_,
                     header_.size(), [this](Index count, std::uint64_t written) { tell(0, count, written); });
  throw_if_failed(allocate(blocks, writer));
  if (allocated_ > report.plan.planned_bytes)
    throw_if_failed({StatusCode::Internal, "allocated " + std::to_string(allocated_) + " bytes, but planned " +
                                               std::to_string(report.plan.planned_bytes)});
  if (goes_on_)
    unfinished_.go_on(recorded_);
  else
    unfinished_.begin(
        header_, header_.size() + static_cast<std::uint64_t>(sizes_.m * sizes_.n) * size_of(sizes_.result), facts());
  progress_.blocks = report.plan.blocks;
  progress_.blocks_done = report.plan.blocks_done;
  for (Index number = 0; sizes_.multiplies && number < plan_.grid.count(); ++number)
    if (const BlockOfC block = plan_.grid.at(number); !done_[static_cast<std::size_t>(number)])
      progress_.operations +=
          2.0 * static_cast<double>(block.rows) * static_cast<double>(block.cols) * static_cast<double>(sizes_.k);
  tell(0, 0, 0);
  writer.start();
  multiply(blocks);
  throw_if_failed(writer.finish());
  unfinished_.commit();
  report.allocated_bytes = allocated_;
  report.bytes_read = bytes_read();
  report.bytes_written = writer.bytes_written();
  report.seconds_writing = writer.seconds_waiting();
  for (const Worker& worker : workers_)
    if (worker.source != nullptr) report.seconds_reading += worker.source->seconds_waiting();
  report.seconds = watch.seconds();
  return report;
}

} // namespace
} // namespace out_of_core

FileProductPlan plan_files(const FileProduct& product) try {
  return out_of_core::Run(product).plan();
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

FileProductReport gemm_files(const FileProduct& product) try {
  const detail::ContractArithmetic contract;
  return out_of_core::Run(product).compute();
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace tessera
