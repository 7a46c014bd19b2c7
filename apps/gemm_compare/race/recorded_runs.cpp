#include "recorded_runs.hpp"

#include <algorithm>

namespace tessera::compare_app {
namespace {

/// Runs in a recording: enough that the launch of the recording adds little to each.
constexpr std::size_t fewest_runs = 20;

} // namespace

Status RecordedRuns::record(const Task& task, const Operands& operands, double beta,
                            std::unique_ptr<RecordedRuns>& runs) {
  runs.reset();
  Executor& executor = *task.executor;
  Queue& queue = executor.default_queue();
  if (!records(queue)) return {StatusCode::Rejected, "the queues of this backend do not record"};
  const std::size_t sets = operands.count();
  const std::size_t count = beta != 0 ? sets : std::max(sets, fewest_runs);
  std::unique_ptr<RecordedRuns> made(new RecordedRuns(executor, static_cast<int>(count)));
  const auto prepare = [&] {
    for (std::size_t set = 0; set < sets; ++set)
      if (Status status = operands.enqueue_preparation(set, executor); !status.ok()) return status;
    return Status{};
  };
  const auto run = [&] {
    for (std::size_t r = 0; r < count; ++r) {
      const GemmCall call = operands.call(r % sets, task.gemm->math, task.threads);
      if (Status status = executor.gemm(queue, call, task.gemm->name); !status.ok()) return status;
    }
    return Status{};
  };
  if (Status status = tessera::record(queue, prepare, made->preparation_); !status.ok()) return status;
  if (Status status = tessera::record(queue, run, made->runs_); !status.ok()) return status;
  // The first replay may bring the recording to the device.
  double seconds = 0;
  if (Status status = made->time(seconds); !status.ok()) return status;
  runs = std::move(made);
  return {};
}

Status RecordedRuns::time(double& seconds) {
  Queue& queue = executor_.default_queue();
  const Status status =
      watch_.time_after([&] { return preparation_->replay(queue); }, [&] { return runs_->replay(queue); });
  seconds = watch_.seconds() / count_;
  return status;
}

} // namespace tessera::compare_app
