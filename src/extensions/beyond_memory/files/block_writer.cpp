#include "block_writer.hpp"

#include <chrono>
#include <new>
#include <system_error>
#include <utility>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/processors.hpp>

#include "core/placement/placement.hpp"

namespace tessera::files {
namespace {

using tessera::detail::BlockOfC;

/// Blocks are recorded so seldom that it takes at most this part of the time: each time waits for the disk.
constexpr double share_of_recording = 0.05;

} // namespace

/// The end of one executor: it fills one strip while the other one is written.
class BlockWriter::Target final : public tessera::detail::BlockTarget {
 public:
  explicit Target(BlockWriter& writer) : writer_(writer) {}

  Status allocate(Executor& executor, std::size_t bytes, std::size_t& allocated) {
    for (Strip& strip : strips_)
      if (Status status = strip.sums.allocate(executor, bytes, allocated); !status.ok()) return status;
    return {};
  }
  Status place(const BlockOfC& block, Index, Index& rows, void*& data, Index& ld) noexcept override {
    Strip& strip = strips_[next_];
    const measure::HostStopwatch watch;
    std::unique_lock lock(writer_.mutex_);
    while (strip.busy && !writer_.blocks_.stopped()) writer_.freed_.wait_for(lock, std::chrono::milliseconds(50));
    writer_.seconds_waiting_ += watch.seconds();
    if (strip.busy) return {StatusCode::DeviceError, "stopped"}; // the first failure counts
    rows = std::min(rows, writer_.plan_.strip_rows);
    data = strip.sums.data();
    ld = block.cols;
    return {};
  }
  Status take(const BlockOfC& block, Index first, Index rows) noexcept override try {
    Strip& strip = strips_[next_];
    next_ ^= 1;
    strip.block = block;
    strip.first = first;
    strip.rows = rows;
    const std::lock_guard lock(writer_.mutex_);
    writer_.waiting_.push_back(&strip);
    strip.busy = true;
    writer_.wake_.notify_one();
    return {};
  } catch (const std::bad_alloc& error) {
    return out_of_memory(error);
  }

 private:
  BlockWriter& writer_;
  std::array<Strip, 2> strips_;
  std::size_t next_ = 0;
};

BlockWriter::BlockWriter(const Sizes& sizes, const FilePlan& plan, const Ending& ending,
                         tessera::detail::SharedBlocks& blocks, Unfinished& unfinished, std::uint64_t header,
                         std::function<void(Index, std::uint64_t)> recorded)
    : sizes_(sizes),
      plan_(plan),
      ending_(ending),
      blocks_(blocks),
      unfinished_(unfinished),
      header_(header),
      recorded_(std::move(recorded)) {}

BlockWriter::~BlockWriter() {
  if (thread_.joinable()) {
    blocks_.fail({StatusCode::Internal, "a product of files ended without its writer"});
    static_cast<void>(finish());
  }
}

Status BlockWriter::allocate(std::size_t& allocated) {
  host_ = &place_elementwise({});
  if (Status status = host_->create_queue(queue_); !status.ok()) return status;
  for (const auto& [buffer, bytes] :
       {std::pair{&old_, plan_.old_bytes(sizes_)}, std::pair{&straight_, plan_.straight_bytes(sizes_)},
        std::pair{&wide_, plan_.wide_bytes(sizes_)}, std::pair{&result_, plan_.result_bytes(sizes_)}})
    if (Status status = buffer->allocate(*host_, bytes, allocated); !status.ok()) return status;
  return {};
}

Status BlockWriter::make_target(Executor& executor, std::unique_ptr<tessera::detail::BlockTarget>& target,
                                std::size_t& allocated) {
  auto made = std::make_unique<Target>(*this);
  Status status = made->allocate(executor, plan_.strip_bytes(sizes_), allocated);
  target = std::move(made);
  return status;
}

void BlockWriter::start() {
  try {
    thread_ = std::thread([this] { work(); });
  } catch (const std::system_error& error) {
    throw DeviceError(std::string("the system gave no thread to write the product's file: ") + error.what());
  }
}

Status BlockWriter::finish() {
  {
    const std::lock_guard lock(mutex_);
    ending_now_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
  return blocks_.failure();
}

double BlockWriter::seconds_waiting() {
  const std::lock_guard lock(mutex_);
  return seconds_waiting_;
}

/// Waits for a strip; false if there will be none.
bool BlockWriter::take_strip(Strip*& strip) {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] { return !waiting_.empty() || ending_now_; });
  if (waiting_.empty()) return false;
  strip = waiting_.front();
  waiting_.pop_front();
  return true;
}

void BlockWriter::work() noexcept {
  tessera::detail::leave_inherited_place();
  const tessera::detail::ContractArithmetic contract;
  for (Strip* strip = nullptr; take_strip(strip);) {
    Status status;
    try {
      if (!blocks_.stopped()) status = write(*strip);
    } catch (const std::bad_alloc& error) {
      status = out_of_memory(error);
    }
    if (!status.ok()) blocks_.fail(std::move(status));
    const std::lock_guard lock(mutex_);
    strip->busy = false;
    freed_.notify_all();
  }
  // Blocks that were written before a failure are worth keeping.
  Status status;
  try {
    status = record(true);
  } catch (const std::bad_alloc& error) {
    status = out_of_memory(error);
  }
  if (!status.ok()) blocks_.fail(std::move(status));
}

Status BlockWriter::write(Strip& strip) {
  const char* result = nullptr;
  if (Status status = apply_ending(strip, result); !status.ok()) return status;
  if (Status status = write_rows(strip, result); !status.ok()) return status;
  if (strip.first + strip.rows < strip.block.rows) return {}; // strips of a block come in order
  unrecorded_.push_back(plan_.grid.number_of(strip.block));
  return record(false);
}

/// Reads the old values of a strip, as rows in C's type.
Status BlockWriter::read_old(const Strip& strip, char*& old) {
  const Index row = strip.block.row + strip.first, rows = strip.rows, cols = strip.block.cols;
  old = old_.data();
  if (!sizes_.c_in_columns) return ending_.old_c->read(row, strip.block.col, rows, cols, old, cols);
  if (Status status = ending_.old_c->read(strip.block.col, row, cols, rows, old, rows); !status.ok()) return status;
  MapCall map{.op = MapOp::Transpose, .type = sizes_.result, .rows = rows, .cols = cols};
  map.x = old;
  map.ldx = rows;
  map.z = straight_.data();
  map.ldz = cols;
  map.threads = 1;
  old = straight_.data();
  return host_->map(*queue_, map);
}

/// Computes alpha·sums + beta·C, rounded once to C's type.
Status BlockWriter::apply_ending(Strip& strip, const char*& result) {
  const Index rows = strip.rows, cols = strip.block.cols;
  char* old = nullptr;
  result = strip.sums.data();
  if (sizes_.reads_c)
    if (Status status = read_old(strip, old); !status.ok()) return status;
  if (!sizes_.multiplies) { // C := beta·C
    char* const c = old != nullptr ? old : strip.sums.data();
    result = c;
    return host_->scale_result(
        *queue_, {{.type = sizes_.type, .m = rows, .n = cols, .beta = ending_.beta, .c = c, .ldc = cols, .threads = 1},
                  sizes_.result});
  }
  const auto map = [&](MapCall call) {
    call.rows = rows;
    call.cols = cols;
    call.ldx = call.ldy = call.ldz = cols;
    call.threads = 1;
    return host_->map(*queue_, call);
  };
  if (old != nullptr && sizes_.result != sizes_.sums()) {
    MapCall widen{.op = MapOp::Convert, .type = sizes_.sums(), .x = old, .z = wide_.data()};
    widen.x_type = sizes_.result;
    if (Status status = map(widen); !status.ok()) return status;
    old = wide_.data();
  }
  if (ending_.alpha != 1.0 || old != nullptr)
    if (Status status = map({.op = old != nullptr ? MapOp::Axpby : MapOp::Scale,
                             .type = sizes_.sums(),
                             .alpha = ending_.alpha,
                             .beta = ending_.beta,
                             .x = strip.sums.data(),
                             .y = old,
                             .z = strip.sums.data()});
        !status.ok())
      return status;
  if (sizes_.result == sizes_.sums()) return {};
  MapCall round{.op = MapOp::Convert, .type = sizes_.result, .x = strip.sums.data(), .z = result_.data()};
  round.x_type = sizes_.sums();
  result = result_.data();
  return map(round);
}

Status BlockWriter::write_rows(const Strip& strip, const char* result) {
  const std::size_t element = size_of(sizes_.result);
  const Index row = strip.block.row + strip.first;
  const bool whole = strip.block.cols == sizes_.shape.n; // then the rows lie next to each other in the file
  const std::size_t run = static_cast<std::size_t>(strip.block.cols * (whole ? strip.rows : 1)) * element;
  for (Index i = 0; i < (whole ? 1 : strip.rows); ++i) {
    const auto place = header_ + static_cast<std::uint64_t>((row + i) * sizes_.shape.n + strip.block.col) * element;
    if (Status status = unfinished_.write(result + static_cast<std::size_t>(i) * run, run, place); !status.ok())
      return status;
    bytes_written_.fetch_add(run, std::memory_order_relaxed);
  }
  const auto begin = static_cast<std::uint64_t>(row * sizes_.shape.n) * element;
  unfinished_.start_writing(header_ + begin, static_cast<std::uint64_t>(strip.rows * sizes_.shape.n) * element);
  return {};
}

/// Brings the blocks that are written to the disk and records them, unless that was done a moment ago.
Status BlockWriter::record(bool all) {
  if (unrecorded_.empty()) return {};
  const double begin = watch_.seconds();
  if (!all && (begin - recorded_at_) * share_of_recording < cost_of_recording_) return {};
  for (const NpyFile* operand : ending_.operands)
    if (Status status = operand->check_unchanged(); !status.ok()) return status;
  if (Status status = unfinished_.record(unrecorded_); !status.ok()) return status;
  recorded_at_ = watch_.seconds();
  cost_of_recording_ = recorded_at_ - begin;
  const auto count = static_cast<Index>(unrecorded_.size());
  unrecorded_.clear();
  recorded_(count, bytes_written());
  return {};
}

} // namespace tessera::files
