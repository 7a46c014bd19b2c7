#include "strips.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include <tessera/backend/log.hpp>
#include <tessera/backend/out_of_memory.hpp>

#include "core/base/partly_written.hpp"
#include "core/base/thread_team.hpp"
#include "core/executor/device_rectangle.hpp"
#include "core/executor/executor_memory.hpp"
#include "executor_copies.hpp"
#include "extensions/beyond_memory/streamed/streamed_gemm.hpp"

namespace tessera::detail {
namespace {

/// The first strip is copied while nothing is multiplied, so that B has some eight of them; narrower ones than
/// `least_usual` columns make products slower, and narrower ones than `least_width` are not worth a try where memory is
/// short.
constexpr Index usual_strips = 8, least_usual = 1024, least_width = 256;

Index narrower(Index width) { return std::max(least_width, (width / 2 + least_width - 1) / least_width * least_width); }

Index usual_width(Index n) {
  const Index width = std::max(least_usual, (n + usual_strips - 1) / usual_strips);
  return std::min(n, (width + least_width - 1) / least_width * least_width);
}

char* at(const Placed& x, Index row, Index col, DType type) {
  return static_cast<char*>(x.data) + static_cast<std::size_t>(row * x.ld + col) * size_of(type);
}

/// What the executors of one product share.
struct Progress {
  std::atomic<bool> written = false, stopped = false;
  std::mutex mutex;
  Status failure;

  void fail(Status status) noexcept {
    const std::lock_guard lock(mutex);
    if (failure.ok()) failure = std::move(status);
    stopped = true;
  }
};

/// One executor's part of the product.
class StripWorker {
 public:
  StripWorker(std::span<const Share> shares, std::size_t own, const GemmCall& call, std::string_view kernel)
      : shares_(shares),
        own_(own),
        share_(shares[own]),
        call_(call),
        kernel_(kernel),
        memory_{ExecutorMemory(*share_.executor), ExecutorMemory(*share_.executor)},
        copies_(*share_.executor) {}

  /// Allocates the memory of two strips; none where this executor has all rows of B, or no row of C.
  Status reserve(Index width);
  Status run(Progress& progress);
  const Executor& executor() const noexcept { return *share_.executor; }

 private:
  bool has_all_of_b() const noexcept { return share_.rows_of_b == call_.k; }
  Status prepare();
  Status multiply(Progress& progress);
  Status gather(std::size_t slot, Index first, Index width);
  Status multiply_strip(Placed strip, Index first, Index width, Progress& progress);

  std::span<const Share> shares_;
  const std::size_t own_;
  const Share& share_;
  const GemmCall& call_;
  const std::string_view kernel_;
  Index width_ = 0;
  std::array<ExecutorMemory, 2> memory_;
  ExecutorCopies copies_;
  std::array<std::unique_ptr<Event>, 2> copied_, multiplied_;
};

Status StripWorker::reserve(Index width) {
  width_ = width;
  if (has_all_of_b() || share_.rows == 0) return {};
  const DeviceRectangle strip{call_.k, width, size_of(call_.type)};
  for (ExecutorMemory& memory : memory_)
    if (Status status = memory.allocate(std::max<std::size_t>(strip.bytes(), 1)); !status.ok()) return status;
  return {};
}

Status StripWorker::prepare() {
  for (auto* events : {&copied_, &multiplied_})
    for (std::unique_ptr<Event>& event : *events)
      if (Status status = share_.executor->create_event(event); !status.ok()) return status;
  return copies_.prepare(shares_.size());
}

/// Enqueues the copies of columns `first` … of all rows of B. Each executor begins with its own rows and goes on with
/// the next one's, so that they do not all read from one.
Status StripWorker::gather(std::size_t slot, Index first, Index width) {
  const DeviceRectangle strip{call_.k, width, size_of(call_.type)};
  for (std::size_t turn = 0; turn < shares_.size(); ++turn) {
    const std::size_t owner = (own_ + turn) % shares_.size();
    const Share& from = shares_[owner];
    if (from.rows_of_b == 0) continue;
    Index row = 0;
    for (std::size_t i = 0; i < owner; ++i) row += shares_[i].rows_of_b;
    const CopyCall call{.direction = CopyDirection::Within,
                        .to = static_cast<char*>(memory_[slot].data()) + static_cast<std::size_t>(row) * strip.pitch(),
                        .to_pitch = strip.pitch(),
                        .from = at(from.b, 0, first, call_.type),
                        .from_pitch = static_cast<std::size_t>(from.b.ld) * size_of(call_.type),
                        .width = static_cast<std::size_t>(width) * size_of(call_.type),
                        .rows = static_cast<std::size_t>(from.rows_of_b),
                        .source = from.executor};
    if (Status status = copies_.enqueue(call, owner); !status.ok()) return status;
  }
  return {};
}

Status StripWorker::multiply_strip(Placed strip, Index first, Index width, Progress& progress) {
  GemmCall part = call_;
  part.m = share_.rows;
  part.n = width;
  part.a = share_.a.data;
  part.lda = share_.a.ld;
  part.b = strip.data;
  part.ldb = strip.ld;
  part.c = at(share_.c, 0, first, call_.result);
  part.ldc = share_.c.ld;
  Status status = share_.executor->gemm(share_.executor->default_queue(), part, kernel_);
  if (status.ok() || status.code == StatusCode::DeviceError) progress.written = true;
  return status;
}

Status StripWorker::multiply(Progress& progress) {
  Queue& queue = share_.executor->default_queue();
  if (has_all_of_b()) return multiply_strip(share_.b, 0, call_.n, progress);
  std::size_t slot = 0;
  for (Index first = 0; first < call_.n && !progress.stopped; first += width_, slot = 1 - slot) {
    const Index width = std::min(width_, call_.n - first);
    if (first >= 2 * width_)
      if (Status status = copies_.queue().wait(*multiplied_[slot]); !status.ok()) return status;
    if (Status status = gather(slot, first, width); !status.ok()) return status;
    if (Status status = copied_[slot]->record(copies_.queue()); !status.ok()) return status;
    if (Status status = queue.wait(*copied_[slot]); !status.ok()) return status;
    const DeviceRectangle strip{call_.k, width, size_of(call_.type)};
    if (Status status = multiply_strip({memory_[slot].data(), strip.ld()}, first, width, progress); !status.ok())
      return status;
    if (Status status = multiplied_[slot]->record(queue); !status.ok()) return status;
  }
  return {};
}

Status StripWorker::run(Progress& progress) {
  if (share_.rows == 0) return {};
  Status status = prepare();
  if (status.ok()) status = multiply(progress);
  const Status copied = copies_.synchronize(), done = share_.executor->default_queue().synchronize();
  if (!status.ok()) return status;
  return copied.ok() ? done : copied;
}

/// Allocates strips of the usual width on all executors, or of the widest that all have memory for.
Status reserve(std::span<const std::unique_ptr<StripWorker>> workers, Index n) {
  for (Index width = usual_width(n);; width = narrower(width)) {
    Status status;
    for (const auto& worker : workers) {
      status = worker->reserve(width);
      if (!status.ok()) status.why = name_of(worker->executor()) + ": a strip of B: " + status.why;
      if (!status.ok()) break;
    }
    if (status.ok() && log_dispatch())
      log_line("a product of row blocks on " + std::to_string(workers.size()) + " executors: B in strips of " +
               std::to_string(width) + " columns");
    if (status.code != StatusCode::OutOfMemory || width <= least_width) return status;
  }
}

} // namespace

Status multiply_strips(std::span<const Share> shares, const GemmCall& call, std::string_view kernel) noexcept try {
  std::vector<std::unique_ptr<StripWorker>> workers;
  for (std::size_t i = 0; i < shares.size(); ++i)
    workers.push_back(std::make_unique<StripWorker>(shares, i, call, kernel));
  if (Status status = reserve(workers, call.n); !status.ok()) return status;
  Progress progress;
  const auto work = [&](std::size_t i) noexcept {
    if (progress.stopped) return;
    Status status;
    try {
      status = workers[i]->run(progress);
    } catch (const std::bad_alloc& error) {
      status = out_of_memory(error);
    }
    if (status.ok()) return;
    status.why = name_of(workers[i]->executor()) + ": " + status.why;
    progress.fail(std::move(status));
  };
  ThreadTeam(workers.size() - 1).run(workers.size(), std::ref(work));
  return progress.written ? partly_written(progress.failure) : progress.failure;
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

} // namespace tessera::detail
