/// The way of a product of files: after it is checked and planned, its blocks are computed, and it is completed.

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <stop_token>

#include <tessera/backend/log.hpp>
#include <tessera/backend/out_of_memory.hpp>
#include <tessera/beyond_memory/file_product.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/stopwatch.hpp>
#include <tessera/detail/uncancelled.hpp>

#include "core/base/thread_team.hpp"
#include "run.hpp"

namespace tessera {
namespace files {

FileProductPlan Run::plan() const {
  return {.type = sizes_.type,
          .result = sizes_.result,
          .m = sizes_.shape.m,
          .n = sizes_.shape.n,
          .k = sizes_.shape.k,
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

/// Allocates everything, so that a shortage shows before anything is written. The first executor's first slices are
/// read meanwhile: this thread works for it, so that its blocks will be computed whatever threads the system gives.
Status Run::allocate(SharedBlocks& blocks, BlockWriter& writer) {
  if (!sizes_.multiplies) workers_.resize(1);
  for (Worker& worker : workers_) {
    Executor& executor = *worker.executor;
    if (!sizes_.multiplies) continue;
    worker.source = std::make_unique<ReadAhead>(
        executor, blocks, SlicedFile{&a_, true, sizes_.op_a, plan_.depth_a, plan_.slice_a_bytes(sizes_)},
        SlicedFile{&b_, false, sizes_.op_b, plan_.depth_b, plan_.slice_b_bytes(sizes_)}, sizes_.shape.k, sizes_.segment,
        sizes_.reading_threads(), [this](double operations) { tell(operations, 0, 0); });
    if (Status status = worker.source->allocate(allocated_); !status.ok()) return status;
    if (&worker == &workers_.front()) worker.source->start();
    if (worker.device != nullptr) {
      const StreamedBlocks on_device{plan_.grid.block_m, plan_.grid.block_n, std::min(sizes_.shape.k, sizes_.segment)};
      if (Status status = worker.device->reserve(on_device); !status.ok()) return status;
      continue;
    }
    worker.host = std::make_unique<HostBlocks>(executor, call_, asked_.kernel, sizes_, plan_);
    if (Status status = worker.host->allocate(allocated_); !status.ok()) return status;
  }
  for (Worker& worker : workers_)
    if (Status status = writer.make_target(*worker.executor, worker.target, allocated_); !status.ok()) return status;
  return writer.allocate(allocated_);
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
  Status status;
  try {
    if (worker.source != nullptr && &worker != &workers_.front()) worker.source->start();
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

/// The other executors compute the blocks of one that has no thread. When it gets one, or the caller, none is left.
void Run::multiply(SharedBlocks& blocks) {
  tessera::detail::ThreadTeam(workers_.size() - 1).run(workers_.size(), [&](std::size_t i) {
    work(workers_[i], blocks);
  });
}

FileProductReport Run::compute() {
  const measure::HostStopwatch watch;
  FileProductReport report{.plan = plan()};
  if (log_dispatch())
    log_line("product of files " + std::to_string(sizes_.shape.m) + "×" + std::to_string(sizes_.shape.n) + "×" +
             std::to_string(sizes_.shape.k) + ": blocks of " + std::to_string(plan_.grid.block_m) + "×" +
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
        header_, header_.size() + static_cast<std::uint64_t>(sizes_.shape.m * sizes_.shape.n) * size_of(sizes_.result),
        facts());
  progress_.blocks = report.plan.blocks;
  progress_.blocks_done = report.plan.blocks_done;
  for (Index number = 0; sizes_.multiplies && number < plan_.grid.count(); ++number)
    if (const BlockOfC block = plan_.grid.at(number); !done_[static_cast<std::size_t>(number)])
      progress_.operations +=
          2.0 * static_cast<double>(block.rows) * static_cast<double>(block.cols) * static_cast<double>(sizes_.shape.k);
  tell(0, 0, 0);
  std::atomic<bool> stopped = false;
  {
    const std::stop_callback stop(asked_.stop, [&] {
      if (blocks.fail({StatusCode::IoError, "stopped"})) stopped = true;
    });
    writer.start();
    multiply(blocks);
    const Status status = writer.finish();
    report.stopped = stopped;
    if (!report.stopped) throw_if_failed(status);
  }
  if (!report.stopped) unfinished_.commit();
  report.allocated_bytes = allocated_;
  report.bytes_read = bytes_read();
  report.bytes_written = writer.bytes_written();
  report.seconds_writing = writer.seconds_waiting();
  for (const Worker& worker : workers_)
    if (worker.source != nullptr) report.seconds_reading += worker.source->seconds_waiting();
  report.seconds = watch.seconds();
  return report;
}

} // namespace files

FileProductPlan plan_files(const FileProduct& product) try {
  return files::Run(product).plan();
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

FileProductReport gemm_files(const FileProduct& product) try {
  const detail::Uncancelled whole;
  const detail::ContractArithmetic contract;
  return files::Run(product).compute();
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace tessera
