#pragma once

/// Two stopwatches: one reads the host's steady clock, the other an executor's events. libtessera, the backends and the
/// programs time work with them. Programs outside Tessera do not use this header directly.

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include <tessera/executor.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera::measure {

/// Counts the seconds since its construction by the host's steady clock.
class HostStopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

/// Returns the seconds that `work()` takes by the host's steady clock.
template <class Work>
double host_seconds(Work&& work) {
  const HostStopwatch watch;
  work();
  return watch.seconds();
}

/// Returns the host's seconds of the fastest of `runs` runs of `work()`, after one run that warms up.
template <class Work>
double fastest_host_seconds(int runs, Work&& work) {
  work();
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < runs; ++run) best = std::min(best, host_seconds(work));
  return best;
}

/// Times work in a queue by the executor's own events: they read a device's clock on a device and
/// the steady clock on the host.
class Stopwatch {
 public:
  /// Times work in the executor's default queue. The executor must outlive the stopwatch. The first measurement creates
  /// the events.
  explicit Stopwatch(Executor& executor) : Stopwatch(executor, executor.default_queue()) {}

  /// Times work in this queue of the executor. Both must outlive the stopwatch.
  Stopwatch(Executor& executor, Queue& queue) : executor_(executor), queue_(queue) {}

  /// Runs `work`, which returns a Status or nothing, and waits until the queue has finished it. A failure that the
  /// device reports only after `work` has returned is in the Status too.
  template <class Work>
  Status time(Work&& work) {
    return time_after([] { return Status{}; }, std::forward<Work>(work));
  }

  /// Runs `prepare` and then `work`, and times `work` alone. The queue does not wait for the host in between: while the
  /// device runs what `prepare` enqueued, the host enqueues the work.
  template <class Prepare, class Work>
  Status time_after(Prepare&& prepare, Work&& work) {
    if (Status status = create_events(); !status.ok()) return status;
    if (Status status = queue_.synchronize(); !status.ok()) return status;
    if (Status status = prepare(); !status.ok()) return status;
    if (Status status = start_->record(queue_); !status.ok()) return status;
    if constexpr (std::is_void_v<std::invoke_result_t<Work&>>) {
      work();
    } else {
      if (Status status = work(); !status.ok()) return status;
    }
    if (Status status = stop_->record(queue_); !status.ok()) return status;
    if (Status status = stop_->seconds_since(*start_, seconds_); !status.ok()) return status;
    return queue_.synchronize();
  }

  /// Seconds of the last work that was timed.
  double seconds() const { return seconds_; }

 private:
  Status create_events() {
    if (!start_)
      if (Status status = executor_.create_event(start_); !status.ok()) return status;
    return stop_ ? Status{} : executor_.create_event(stop_);
  }

  Executor& executor_;
  Queue& queue_;
  std::unique_ptr<Event> start_, stop_;
  double seconds_ = 0;
};

} // namespace tessera::measure

#include <tessera/detail/macros_on.hpp>
